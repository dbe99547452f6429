import { execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { botEnvironment } from "./bot-process.js";
import { startSandboxDiscord } from "./discord/server.js";
import { startSandboxExplorer } from "./explorer/server.js";

/**
 * Executes the Dockerfile step by step, without Docker: each stage is an empty folder. Then starts the bot as
 * the image would (with its user, and only the data folder writable), runs the health check, and stops the
 * bot.
 */

const root = fileURLToPath(new URL("..", import.meta.url));
const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0;

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Returns the Dockerfile's instructions, with continued lines joined. */
function readDockerfile(): Instruction[] {
  return readFileSync(join(root, "Dockerfile"), "utf8")
    .replace(/\\\n/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith("#"))
    .map((line) => {
      const [, name = "", text = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
      return { name, text };
    });
}

const work = mkdtempSync(join(tmpdir(), "crier-image-"));
chmodSync(work, 0o755);
const stages = new Map<string, string>();
let folder = "";
let environment: Record<string, string> = {};
let command: string[] = [];
let check: string[] = [];

function copy(text: string): void {
  const parts = text.split(/\s+/);
  const from = parts[0]?.startsWith("--from=") ? parts.shift()?.slice("--from=".length) : undefined;
  const target = parts.pop() ?? "";
  for (const part of parts) {
    const source =
      from === undefined ? join(root, part) : join(stages.get(from) ?? "", part.replace(/^\/app\//, ""));
    if (!existsSync(source)) throw new Error(`COPY ${text}: there is no ${part}`);
    const into = target.endsWith("/") ? join(folder, target, basename(part)) : join(folder, target);
    cpSync(source, into, { recursive: true, verbatimSymlinks: true });
  }
}

function run(text: string): void {
  // The folder for the image's user is created below.
  if (text.startsWith("mkdir /data")) return;
  // Keep this machine's npm cache.
  const own = text.replace(/\s*&& npm cache clean --force$/, "");
  execFileSync("sh", ["-c", own], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
  });
}

for (const { name, text } of readDockerfile()) {
  if (name === "FROM") {
    const [, , stage = "final"] = text.replace(/^--platform=\S+\s+/, "").split(/\s+/);
    folder = join(work, stage);
    mkdirSync(folder);
    stages.set(stage, folder);
    environment = {};
  } else if (name === "COPY") copy(text);
  else if (name === "RUN") run(text);
  else if (name === "ENV") {
    for (const pair of text.split(/\s+/)) {
      const [key = "", value = ""] = pair.split("=");
      environment[key] = value;
    }
  } else if (name === "CMD") command = JSON.parse(text) as string[];
  else if (name === "HEALTHCHECK") check = JSON.parse(text.slice(text.indexOf("CMD") + 3)) as string[];
  console.log(`${name} ${text.slice(0, 90)}`);
}

const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  packages: Record<string, { dev?: boolean }>;
};
const strays = Object.entries(lock.packages)
  .filter(([path, { dev }]) => dev && existsSync(join(folder, path)))
  .map(([path]) => path);
if (strays.length > 0) throw new Error(`Not for production: ${strays.join(", ")}`);

const data = join(work, "data");
mkdirSync(data);
const user = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
if (asRoot) chownSync(data, NOBODY, NOBODY);
execFileSync("chmod", ["-R", "a-w,a+rX", folder]);

const explorer = await startSandboxExplorer({
  size: { validators: 20, parties: 30, updates: 20, voteRequests: 5 },
});
const discord = await startSandboxDiscord();
const env = {
  PATH: process.env.PATH ?? "",
  ...environment,
  ...botEnvironment(discord, explorer, { DATA_DIR: data, HTTP_PORT: "18080" }),
};
const [program = "", ...parameters] = command;
const bot = spawn(program, parameters, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"], ...user });
let output = "";
bot.stdout.on("data", (chunk: Buffer) => {
  output += chunk.toString();
});
const exited = new Promise<number | null>((resolve) => bot.on("exit", (code) => resolve(code)));
await discord.world.until(() => output.includes('"Ready"') || bot.exitCode !== null, "the bot");

const isHealthy = (): boolean => {
  const [healthProgram = "", ...rest] = check;
  try {
    execFileSync(healthProgram, rest, { env, timeout: 5_000 });
    return true;
  } catch {
    return false;
  }
};
if (!isHealthy()) throw new Error(`The health check fails:\n${output}`);
// A chart needs the canvas, its font and the list of validators, which is read in the background.
let pictures = 0;
for (const deadline = Date.now() + 15_000; pictures === 0 && Date.now() < deadline; ) {
  const place = { user: discord.people.ana, channel: discord.channels.general };
  pictures = (await discord.driver.ask(place, "/validator versions")).attachments.length;
}
if (pictures === 0) throw new Error(`It draws no picture:\n${output}`);
console.log("Healthy, and it draws");
bot.kill("SIGTERM");
const code = await exited;
if (code !== 0) throw new Error(`It ended with ${code}`);
if (isHealthy()) throw new Error("The health check passes though the bot is gone");
await Promise.all([explorer.close(), discord.close()]);
const size = execFileSync("du", ["-sm", folder], { encoding: "utf8" }).split("\t")[0];
execFileSync("sh", ["-c", `chmod -R u+w "${work}" && rm -rf "${work}"`]);
console.log(`Stopped with 0 on SIGTERM. The application takes ${size} MB.`);
process.exit(0);
