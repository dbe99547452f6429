import { randomBytes } from "node:crypto";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { type APIGatewayBotInfo, type REST, Routes } from "discord.js";
import type { Config } from "../config.js";
import { type Finding, fail, pass, warn, wordsOf } from "./finding.js";

/** True if a WebSocket handshake with the gateway succeeds. It does not identify the bot. */
function handshake(url: string): Promise<boolean> {
  const address = new URL(url.replace(/^ws/, "http"));
  const sendPayload = address.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve) => {
    const requestSent = sendPayload(address, {
      timeout: 5_000,
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
      },
    });
    const settle = (opened: boolean) => {
      requestSent.destroy();
      resolve(opened);
    };
    requestSent.on("upgrade", () => settle(true));
    requestSent.on("response", () => settle(false));
    requestSent.on("timeout", () => settle(false));
    requestSent.on("error", () => settle(false));
    requestSent.end();
  });
}

/** Checks the gateway connection, and the number of session starts left today. */
export const checkGateway = (rest: REST, shards: Config["discord"]["shards"]): Promise<Finding> =>
  findGateway(rest, shards).catch((error: unknown) =>
    fail("Gateway", wordsOf(error, "Discord"), "Try again in a minute; look at Discord's status page."),
  );

async function findGateway(rest: REST, shards: Config["discord"]["shards"]): Promise<Finding> {
  const gateway = (await rest.get(Routes.gatewayBot())) as APIGatewayBotInfo;
  const { remaining, total } = gateway.session_start_limit;
  const shardCount = shards === "auto" ? gateway.shards : shards.count;
  if (remaining < shardCount)
    return fail(
      "Gateway",
      `only ${remaining} of ${total} starts are left today`,
      "Wait until tomorrow, and find out what restarts the bot so often.",
    );
  if (!(await handshake(gateway.url)))
    return fail(
      "Gateway",
      "the WebSocket handshake failed",
      "Check that a firewall or proxy lets WebSockets through.",
    );
  if (shardCount < gateway.shards)
    return warn(
      "Gateway",
      `reachable; ${shardCount} shards, where Discord recommends ${gateway.shards}`,
      "Raise the count in DISCORD_SHARDS on every process.",
    );
  return pass(
    "Gateway",
    `reachable; ${shardCount} shard${shardCount === 1 ? "" : "s"}; ${remaining} of ${total} starts left today`,
  );
}
