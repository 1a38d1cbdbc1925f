export function getOrCompute<Key, Value>(values: Map<Key, Value>, key: Key, compute: (key: Key) => Value): Value {
  const value = values.get(key) ?? compute(key)
  values.set(key, value)
  return value
}
