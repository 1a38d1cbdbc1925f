import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files whose tests start servers, browsers or interpreters, and wait for them. */
const slow = /\/test\/(browser|clients|e2e|process)\//

/** Runs slow files first, so that a slow file is not the last one. A fresh clone has no durations, only file sizes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isSlow = ({ moduleId }: TestSpecification) => slow.test(moduleId)
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))]
  }
}
