/** Runs work with the same key one after the other, in order of arrival. */
export function createSerial() {
  const last = new Map<string, Promise<unknown>>()
  return {
    run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
      const before = last.get(key) ?? Promise.resolve()
      const result = before.then(work, work)
      last.set(key, result)
      const leave = () => {
        if (last.get(key) === result) last.delete(key)
      }
      result.then(leave, leave)
      return result
    },
  }
}
