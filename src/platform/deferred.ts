/** Made when something of it is first asked for; what is never asked costs one object. */
export function deferred<T extends object>(make: () => T): T {
  let made: T | undefined
  return new Proxy<T>({} as T, {
    get(_, name) {
      made ??= make()
      return Reflect.get(made, name)
    },
  })
}
