import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { hasChromium } from '../../support/chromium.ts'
import { createDatabase } from '../../support/database.ts'
import { isWhole } from '../../support/whole.ts'
import { Console } from './stage.ts'

export * from './stage.ts'

/** A `describe` with an open console: skipped without Chromium, and failed by errors of the pages. */
export const describeConsole = (title: string, tests: (console: Console) => void): void =>
  describeWith(hasChromium(), title, tests)

/** The same for tests that take minutes: `npm run test:whole` runs them, and `npm test` leaves them out. */
export function describeLongConsole(title: string, tests: (console: Console) => void): void {
  if (!isWhole) console.info(`SKIPPED: ${title} in Chromium; npm run test:whole runs it.`)
  describeWith(isWhole && hasChromium(), title, tests)
}

function describeWith(isRun: boolean, title: string, tests: (console: Console) => void): void {
  describe.skipIf(!isRun)(title, () => {
    const subject = new Console(createDatabase)
    beforeAll(() => subject.open())
    afterAll(() => subject.close())
    afterEach(() => expect(subject.complaints.splice(0)).toEqual([]))
    tests(subject)
  })
}
