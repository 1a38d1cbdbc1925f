import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { hasChromium } from '../../support/chromium.ts'
import { Console } from './stage.ts'

export * from './stage.ts'

/** A `describe` with an open console: skipped without Chromium, and failed by errors of the pages. */
export function describeConsole(title: string, tests: (console: Console) => void): void {
  describe.skipIf(!hasChromium())(title, () => {
    const subject = new Console()
    beforeAll(() => subject.open())
    afterAll(() => subject.close())
    afterEach(() => expect(subject.complaints.splice(0)).toEqual([]))
    tests(subject)
  })
}
