import { Client, Events } from "discord.js";

/**
 * Reference of the benchmarks: a bare discord.js bot that answers every command with a fixed message from its
 * environment.
 */

const payload = JSON.parse(process.env.BARE_PAYLOAD ?? "{}");
const client = new Client({ intents: [], rest: { api: process.env.DISCORD_API_URL ?? "" } });
client.on(Events.InteractionCreate, async (interaction) => {
  if (interaction.isRepliable()) await interaction.reply(payload);
});
client.once(Events.ClientReady, () => console.log('"Ready"'));
await client.login(process.env.DISCORD_TOKEN);
