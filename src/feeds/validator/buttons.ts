import * as z from "zod";
import { SNOOZE_SPANS } from "../../delivery/snoozes.js";
import { defineButton, idParameter } from "../../screens/addresses.js";

/** Start of the silence, epoch ms. */
const since = z.coerce.number().int().nonnegative();
/** The message that contains the button: the alert itself ("card"), or a message about it that is not edited ("news"). */
const shownOn = z.enum(["card", "news"]).default("card");

/** "I'm on it", under an alert about a validator. */
export const acknowledgeButton = defineButton("ack", { id: idParameter, since, on: shownOn });

/** Hands an acknowledged alert back to the others. Its label is "Mo has it". */
export const handBackButton = defineButton("unack", { id: idParameter, since, on: shownOn });

/** The menu that snoozes an alert. `back` means until the validator is back, and `off` ends the snooze. */
export const snoozeButton = defineButton("snooze", {
  id: idParameter,
  since,
  for: z.enum([...SNOOZE_SPANS, "back", "off"]),
  on: shownOn,
});
