import { DiscordError } from "../discord/errors.js";
import type { RedisPair } from "../redis-pair.js";
import type { Stack } from "../stack.js";

/** A fault with its duration in ms. `begin` returns the function that ends it. */
export type Fault = readonly [name: string, ms: number, begin: () => (() => void) | Promise<() => void>];

/**
 * Returns every fault of the sandbox.
 * @param onKilled called once the bot has been killed, before another one is started
 */
export function faultsOf(place: Stack, redis: RedisPair | undefined, onKilled: () => void): readonly Fault[] {
  const { explorer, discord } = place;
  const { gateway } = discord;
  const inject = (fault: Parameters<typeof explorer.injectFault>[0]) => {
    explorer.injectFault(fault);
    return () => explorer.clearFaults();
  };

  const trap = (error: DiscordError | "lost" | "reset") => {
    const one = { method: "POST", path: /^\/channels\/\d+\/messages$/, error, times: 3 };
    discord.trap(one);
    return () => {
      one.times = 0;
    };
  };

  return [
    ...(["html", "empty", "silence", "stall", "reset", "bomb", "huge"] as const).map(
      (kind) => [`explorer: ${kind}`, 3_000, () => inject({ kind })] as const,
    ),
    ["explorer: slow", 6_000, () => inject({ kind: "slow", ms: 2_500 })],
    ["explorer: 500", 6_000, () => inject({ kind: "status", status: 500 })],
    ["explorer: 429", 4_000, () => inject({ kind: "status", status: 429, retryAfter: "2" })],
    ["explorer: 401", 3_000, () => inject({ kind: "status", status: 401 })],
    ["explorer: redirect", 2_000, () => inject({ kind: "redirect", to: "https://elsewhere.example/" })],
    ["discord: posts lost", 2_000, () => trap("lost")],
    ["discord: posts cut off", 2_000, () => trap("reset")],
    ["discord: 500 for posts", 2_000, () => trap(new DiscordError(500, 0, "Internal Server Error"))],
    [
      "gateway: dropped",
      4_000,
      () => {
        gateway.drop();
        return () => {};
      },
    ],
    [
      "bot: killed",
      1_000,
      async () => {
        await place.bot().stop("SIGKILL");
        onKilled();
        await place.start();
        return () => {};
      },
    ],
    ...(redis
      ? ([
          [
            "redis: frozen",
            3_000,
            () => {
              redis.freeze();
              return () => redis.thaw();
            },
          ],
          [
            "redis: killed",
            1_500,
            async () => {
              await redis.kill();
              return () => void redis.start();
            },
          ],
          [
            "redis: fails over",
            3_000,
            async () => {
              await redis.failOver();
              return () => {};
            },
          ],
        ] as const)
      : []),
  ];
}
