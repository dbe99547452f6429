import { setImmediate as nextTurn } from "node:timers/promises";

/** Text up to this length is processed without yielding, in characters. */
const SHORT = 200_000;
/** Time after which a turn of the event loop takes on no further work, in ms. It leaves room for one long piece and a garbage collection. */
const TURN_MS = 10;

/** The last turn that was given out. Callers get separate turns, because the work of several callers in one turn would add up. */
let lastTurn: Promise<void> = Promise.resolve();

/**
 * Yields to the event loop before more work on a text of this length, in characters. Each caller gets its own turn. Returns
 * immediately for short text.
 */
export async function yieldFor(length: number): Promise<void> {
  if (length <= SHORT) return;
  lastTurn = lastTurn.then(() => nextTurn());
  await lastTurn;
}

/** Time at which the current turn took on its first work, `undefined` if it has none yet. */
let beganAt: number | undefined;
let lastInLine: Promise<void> = Promise.resolve();

function untilFree(): Promise<void> | undefined {
  if (beganAt !== undefined && performance.now() - beganAt > TURN_MS) {
    const busyTurn = beganAt;
    return nextTurn().then(() => {
      if (beganAt === busyTurn) beganAt = undefined;
      return untilFree();
    });
  }
  if (beganAt === undefined) {
    const thisTurn = performance.now();
    beganAt = thisTurn;
    setImmediate(() => {
      if (beganAt === thisTurn) beganAt = undefined;
    });
  }
  return undefined;
}

/**
 * Waits until the current turn of the event loop has time for more work. Called before each piece of work that many callers may
 * ask for at once (an interaction, a document, a channel), so that a thousand pieces do not form one long turn. Callers resume
 * one after another. The synchronous work of each counts towards the turn.
 */
export function yieldIfBusy(): Promise<void> {
  lastInLine = lastInLine.then(untilFree);
  return lastInLine;
}

/** Number of items in a piece. Looking at each of them takes about a millisecond. */
const PIECE = 500;

/** Divides items into pieces. Before each piece it yields to the event loop if the turn has taken long. */
export async function* inPieces<Item>(items: Iterable<Item>, size = PIECE): AsyncGenerator<readonly Item[]> {
  let piece: Item[] = [];
  for (const item of items) {
    if (piece.push(item) < size) continue;
    await yieldIfBusy();
    yield piece;
    piece = [];
  }
  if (piece.length === 0) return;
  await yieldIfBusy();
  yield piece;
}

/** Returns the items that a test selects. It tests them piece by piece. */
export async function filterInTurns<Item>(
  items: Iterable<Item>,
  isWanted: (item: Item) => boolean,
): Promise<readonly Item[]> {
  const wanted: Item[] = [];
  for await (const piece of inPieces(items)) wanted.push(...piece.filter(isWanted));
  return wanted;
}
