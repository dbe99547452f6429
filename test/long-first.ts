import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Short files whose tests take long. Vitest begins with the largest files, so that these would run last, alone. */
const LONG = ["simulation", "fuzz", "web/pictures", "networks/unset", "feeds/operator/unregistered"].map(
  (name) => `/test/${name}.test.ts`,
);

/** Begins with the files that take long. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((end) => moduleId.endsWith(end));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
