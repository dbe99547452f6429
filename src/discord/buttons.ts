import type { ButtonDefinition } from "../screens/addresses.js";
import type { Click, Press } from "./clicks.js";
import type { Form } from "./forms.js";
import type { MessagePayload } from "./message.js";
import type { AnswerTarget } from "./reply.js";

/**
 * Audience of a button's answer:
 * - `everyone`: the message changes for everyone.
 * - `owner`: the message changes if it belongs to the person who clicked; otherwise they get a copy.
 * - `person`: the person gets a new private message.
 */
export type Audience = "everyone" | "owner" | "person";

/** A button with its handler. */
export interface ButtonHandler<Services, Parameters = unknown> {
  readonly button: ButtonDefinition<Parameters>;
  /** Known before the work is done, because Discord wants a first answer within 3 s. */
  readonly audience: Audience | ((press: Press) => Audience);
  /**
   * Present if the button opens a dialog. `handle` is then called with the submitted dialog.
   * @throws {PersonError}
   */
  form?(parameters: Parameters, click: Click, services: Services): Promise<Form>;
  /** Returns the message to show. @throws {PersonError} */
  handle(parameters: Parameters, click: Click, services: Services): Promise<MessagePayload>;
}

/** Returns a handler whose parameters have the type of its button. */
export const handlerOf = <Services, Parameters>(
  handler: ButtonHandler<Services, Parameters>,
): ButtonHandler<Services> => handler;

const TARGETS = {
  everyone: () => "update",
  owner: (isOwn) => (isOwn ? "update" : "private"),
  person: () => "private",
} as const satisfies Record<Audience, (isOwn: boolean) => AnswerTarget>;

/** Returns the target of the answer to a press. @param isOwn true if the message belongs to the person who clicked */
export const targetOf = (
  { audience }: Pick<ButtonHandler<never>, "audience">,
  press: Press,
  isOwn: boolean,
): AnswerTarget => TARGETS[typeof audience === "function" ? audience(press) : audience](isOwn);
