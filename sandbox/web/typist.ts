import type { Page } from "playwright-core";

/**
 * Types a command on the page, fills in its options by keyboard and sends it. Text is completed with the
 * first choice.
 */
export async function typeCommand(
  page: Page,
  command: string,
  options: Readonly<Record<string, string>> = {},
): Promise<void> {
  await page.locator(".say").fill(`/${command}`);
  await page
    .getByRole("option", { name: `/${command}` })
    .first()
    .waitFor();
  await page.keyboard.press("Enter");
  for (const [name, value] of Object.entries(options)) {
    const field = page.locator(`#option-${name}`);
    if ((await field.evaluate((element) => element.tagName)) === "SELECT") await field.selectOption(value);
    else {
      await field.fill(value);
      // Enter takes the first choice for this text once it is loaded, not one for an earlier text.
      await page.keyboard.press("Enter");
      await page.locator(`#option-${name}:not([aria-busy])`).waitFor();
    }
  }
  await page.locator(".composer [type=submit]").click();
}
