import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Deployment, StatefulSet } from "kubernetes-models/apps/v1";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { Service } from "kubernetes-models/v1";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const { version } = JSON.parse(read("package.json")) as { version: string };

const WORKFLOWS = join(root, ".github/workflows");
const workflows = readdirSync(WORKFLOWS).map(
  (name) => [name, read(join(".github/workflows", name))] as const,
);

describe("a release", () => {
  it.each(workflows)("uses pinned actions and read-only default permissions in %s", (_, text) => {
    const used = [...text.matchAll(/uses: (\S+)(.*)$/gm)].filter(([, action]) => !action?.startsWith("./"));
    expect(used.length).toBeGreaterThan(0);
    for (const [line, action, rest] of used) {
      expect(action, line).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
      expect(rest, line).toMatch(/^ # v\d+\.\d+\.\d+$/);
    }
    expect(parse(text).permissions).toEqual({ contents: "read" });
  });

  it("is tested before its image is built, and published after that", () => {
    const { on, jobs } = parse(read(".github/workflows/release.yml"));
    expect(on).toEqual({ push: { tags: ["v*.*.*"] } });
    expect(jobs.test.uses).toBe("./.github/workflows/ci.yml");
    expect(parse(read(".github/workflows/ci.yml")).on).toHaveProperty("workflow_call");
    expect([jobs.image.needs, jobs.release.needs]).toEqual(["test", "image"]);
    const { with: image } = jobs.image.steps.at(-1);
    expect(image).toMatchObject({ platforms: "linux/amd64,linux/arm64", provenance: "mode=max", sbom: true });
    // While an image is built, a newer release may be finished. So the tags that others follow are moved at the end.
    const metadata = jobs.image.steps.find(({ id }: { id?: string }) => id === "metadata");
    expect(metadata.with.tags).toBe("type=semver,pattern={{version}}");
    const moving = jobs.release.steps.filter(({ run = "" }: { run?: string }) => run.includes("imagetools"));
    expect(moving.map(({ if: condition }: { if: string }) => condition)).toEqual([
      "steps.tags.outputs.newest-patch == 'true'",
      "steps.tags.outputs.newest == 'true'",
    ]);
  });

  it("takes its notes from the changelog, and fails if the tag is not the packaged version", () => {
    const run = (tag: string) =>
      spawnSync(process.execPath, [join(root, ".github/release-notes.mjs"), tag], { encoding: "utf8" });
    const { status, stdout } = run(`v${version}`);
    expect(status).toBe(0);
    expect(stdout).toContain("### Added");
    expect(stdout).not.toContain("## 0.1.0");
    expect(run("v99.0.0")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`package.json ${version}`),
    });
  });

  it.each([
    ["v0.3.0", ["v0.2.0", "v0.3.0"], "newest=true\nnewest-patch=true"],
    ["v0.10.0", ["v0.9.0", "v0.10.0"], "newest=true\nnewest-patch=true"],
    ["v0.2.1", ["v0.2.1", "v0.3.0"], "newest=false\nnewest-patch=true"],
    ["v0.2.1", ["v0.2.1", "v0.2.2", "v0.3.0"], "newest=false\nnewest-patch=false"],
    ["v0.3.0-rc.1", ["v0.2.0", "v0.3.0-rc.1"], "newest=false\nnewest-patch=false"],
    ["v0.3.0", ["v0.3.0", "v0.4.0-rc.1", "nightly"], "newest=true\nnewest-patch=true"],
  ])("moves the image's tags only forwards: %s among %j", (tag, tags, expected) => {
    const script = join(root, ".github/image-tags.mjs");
    const { stdout } = spawnSync(process.execPath, [script, tag], {
      input: tags.join("\n"),
      encoding: "utf8",
    });
    expect(stdout.trim()).toBe(expected);
  });

  it("is not cancelled by the next release", () => {
    const { concurrency } = parse(read(".github/workflows/release.yml"));
    // biome-ignore lint/suspicious/noTemplateCurlyInString: GitHub fills it in
    expect(concurrency).toEqual({ group: "release-${{ github.ref }}", "cancel-in-progress": false });
  });

  it("contains only the files needed to run", () => {
    // Skip the package's scripts: they would rebuild files that other tests are running.
    const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [{ files }] = JSON.parse(packed) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    for (const needed of ["dist/src/main.js", "dist/src/doctor.js", "dist/src/state-tool.js", "ops/run.mjs"])
      expect(paths).toContain(needed);
    const others = paths.filter((path) => !/^(dist\/.*\.js|assets\/.+)$/.test(path));
    expect(others.sort()).toEqual([".env.example", "LICENSE", "README.md", "ops/run.mjs", "package.json"]);
  });
});

describe("the deployment", () => {
  const documents = parseAllDocuments(read("ops/kubernetes.yaml")).map((each) => each.toJS());
  const models = { Deployment, StatefulSet, Service, NetworkPolicy, PodDisruptionBudget };

  it.each(documents.map((each) => [each.kind as keyof typeof models, each] as const))(
    "is a valid Kubernetes %s",
    (kind, document) => {
      expect(() => new models[kind](document).validate()).not.toThrow();
      const { name } = document.metadata;
      expect(
        document.spec.selector?.matchLabels ?? document.spec.selector ?? document.spec.podSelector,
        name,
      ).toBeDefined();
    },
  );

  it("runs on Kubernetes with zero-downtime updates, health probes and no privileges", () => {
    const [{ spec }] = documents;
    expect(spec.replicas).toBe(2);
    expect(spec.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
    const [bot] = spec.template.spec.containers;
    expect(bot.image).toMatch(new RegExp(`/crier:${version}$`));
    expect(bot.livenessProbe.httpGet.path).toBe("/livez");
    expect(bot.readinessProbe.httpGet.path).toBe("/readyz");
    expect(bot.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    });
    // The file names a secret, but contains none.
    expect(bot.envFrom).toEqual([{ secretRef: { name: "crier" } }]);
  });

  it("lets only the monitoring read the metrics, and only bots reach Redis, with a password from the secret", () => {
    const policies = documents.filter(({ kind }) => kind === "NetworkPolicy");
    expect(policies.map(({ metadata, spec }) => [metadata.name, spec.ingress])).toEqual([
      [
        "crier",
        [
          {
            from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
            ports: [{ port: 8080 }],
          },
        ],
      ],
      ["crier-redis", [expect.objectContaining({ ports: [{ port: 6379 }] })]],
    ]);
    const containers = documents.flatMap(({ spec }) => spec.template?.spec.containers ?? []);
    expect(containers).toHaveLength(2);
    for (const { env, resources } of containers) {
      expect(env).toContainEqual({
        name: "REDIS_PASSWORD",
        valueFrom: { secretKeyRef: { name: "crier", key: "REDIS_PASSWORD" } },
      });
      expect(resources.limits.memory).toMatch(/^\d+Mi$/);
    }
  });

  it("is a valid systemd unit", ({ skip }) => {
    const unit = join(root, "ops/crier.service");
    const { status, stderr, error } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
    if (error) skip("systemd-analyze is not installed (apt-get install systemd)");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});
