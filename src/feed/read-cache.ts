interface Known<Key, Value> extends Pick<Map<Key, Promise<Value | undefined>>, 'get' | 'has' | 'delete'> {
  set(key: Key, value: Promise<Value | undefined>): unknown
}

/**
 * Reads each key once: concurrent and later callers share the read. A failed read is not cached. Keys without a value
 * are omitted.
 */
export function cacheReads<Key, Value>(
  known: Known<Key, Value>,
  read: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>,
): (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>> {
  return async (keys) => {
    const unread = keys.filter((key) => !known.has(key))
    if (unread.length > 0) {
      const reading = read(unread)
      for (const key of unread)
        known.set(
          key,
          reading.then((found) => found.get(key)),
        )
      reading.catch(() => unread.map((key) => known.delete(key)))
    }
    const values = await Promise.all(keys.map(async (key) => [key, await known.get(key)] as const))
    return new Map(values.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])))
  }
}
