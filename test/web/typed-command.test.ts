import { expect, it } from "vitest";
import { typedCommand } from "../../sandbox/web/client/typed-command.js";

const option = (name: string, type: number, more: object = {}) => ({ name, description: "", type, ...more });
const SNAPSHOT = {
  channels: [
    { id: "7", name: "ops", type: 0, messages: 0, mayWrite: true },
    { id: "8", name: "Crier", type: 1, messages: 0, mayWrite: true },
  ],
  roles: [{ id: "3", name: "Operators" }],
  people: [{ id: "5", name: "Ana", role: "member" }],
  commands: [
    {
      name: "price",
      description: "",
      options: [option("over", 3, { choices: [{ name: "7 days", value: "7d" }] })],
    },
    { name: "validator list", description: "", options: [option("page", 4)] },
    {
      name: "subscribe validator",
      description: "",
      options: [option("validator", 3), option("channel", 7), option("role", 8), option("traffic", 5)],
    },
    { name: "help", description: "", options: [] },
  ],
};

it.each<[text: string, command: string | undefined, values: object]>([
  ["/price", undefined, {}],
  ["/price ", "price", {}],
  ["/PRICE over: 7 Days", "price", { over: "7d" }],
  ["/price over: soon", "price", { over: "soon" }],
  ["/validator l", undefined, {}],
  ["/validator list page: 3", "validator list", { page: 3 }],
  ["/help me", "help", {}],
  ["/unknown over: 7 days", undefined, {}],
  [
    "/subscribe validator validator: Acme: the first channel: #ops role: @operators traffic: true",
    "subscribe validator",
    { validator: "Acme: the first", channel: "7", role: "3", traffic: true },
  ],
  ["/subscribe validator channel: Crier", "subscribe validator", { channel: "Crier" }],
])("reads %s", (text, command, values) => {
  const [found, filled = {}] = typedCommand(text, SNAPSHOT) ?? [];
  expect(found?.name).toBe(command);
  expect(Object.fromEntries(Object.entries(filled).map(([name, { value }]) => [name, value]))).toEqual(
    values,
  );
});
