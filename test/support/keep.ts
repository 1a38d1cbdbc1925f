import { afterAll, onTestFinished } from 'vitest'

/** Disposes of it after the last test. Call it while a file is loaded, not in a hook or a test. */
export async function keepForFile<Kept extends AsyncDisposable>(made: Promise<Kept>): Promise<Kept> {
  const kept = await made
  afterAll(() => kept[Symbol.asyncDispose]())
  return kept
}

/** Disposes of it after the test and its `afterEach`. Call it in a `beforeEach` or a test. */
export async function keepForTest<Kept extends AsyncDisposable>(made: Promise<Kept>): Promise<Kept> {
  const kept = await made
  onTestFinished(() => kept[Symbol.asyncDispose]())
  return kept
}
