import { bold, grouped, md, timestampWithAge } from "../discord/text.js";
import type { Screen } from "./view.js";

/** Digits that say something of a price: more of them the smaller it is. */
const priceDigits = (price: string): number => (Number(price) >= 100 ? 2 : Number(price) >= 0.01 ? 4 : 8);

/** USD for one CC. Whether the change is a percentage or a fraction is not documented: it is shown as reported. */
export const price: Screen<"price"> = async (_, { explorer }) => {
  const reading = await explorer.price({});
  const { price, change24h, updateTimestamp } = reading.data;
  const falling = change24h?.startsWith("-");
  const change = change24h === null ? "not reported" : `${falling ? "▼" : "▲"} ${grouped(change24h, 6)}`;
  return {
    title: md`Canton Coin`,
    tone: change24h === null || Number(change24h) === 0 ? "neutral" : falling ? "bad" : "good",
    body: [
      price === null
        ? md`The explorer has no price at the moment.`
        : md`# ${grouped(price, priceDigits(price))} USD`,
    ],
    fields: [
      {
        name: "Change in 24 h, as reported",
        value: md`${change24h === null ? change : bold(change)}`,
        inline: true,
      },
      { name: "Price from", value: timestampWithAge(updateTimestamp), inline: true },
    ],
    readings: [reading],
    links: [],
  };
};
