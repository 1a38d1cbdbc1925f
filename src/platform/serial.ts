/** Work with the same key is done one after the other, in the order in which it came; other work is not held up. */
export interface Serial {
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result>
}

export function createSerial(): Serial {
  const last = new Map<string, Promise<unknown>>()
  return {
    run(key, work) {
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
