import { Client, Events } from "discord.js";

/**
 * The reference of the benchmarks: a bare discord.js bot that answers every command with one fixed message, given in its
 * environment, and does nothing else.
 */

const payload = JSON.parse(process.env.BARE_PAYLOAD ?? "{}");
const client = new Client({ intents: [], rest: { api: process.env.DISCORD_API_URL ?? "" } });
client.on(Events.InteractionCreate, async (interaction) => {
  if (interaction.isRepliable()) await interaction.reply(payload);
});
client.once(Events.ClientReady, () => console.log('"Ready"'));
await client.login(process.env.DISCORD_TOKEN);
