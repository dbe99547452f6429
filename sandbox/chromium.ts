import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

/** Path of Chromium under any of its usual names, `undefined` if it is not installed. */
export const chromiumPath = ["chromium", "chromium-browser", "google-chrome"]
  .flatMap((name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)))
  .find((path) => existsSync(path));

/**
 * Starts Chromium in headless mode.
 * @throws {Error} if it is not installed
 */
export function startChromium(): Promise<Browser> {
  if (chromiumPath === undefined)
    throw new Error("This needs chromium. Install it with: apt-get install chromium");
  // It only opens our own page, and would not start as root otherwise.
  return chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
}
