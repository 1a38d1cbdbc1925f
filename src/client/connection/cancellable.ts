/** Makes `return` end the messages at once. An async generator alone would first wait for its next message. */
export function makeCancellable<Message>(
  begin: (signal: AbortSignal) => AsyncGenerator<Message, void, void>,
  signal?: AbortSignal,
): AsyncGenerator<Message, void, void> {
  const leave = new AbortController()
  const messages = begin(signal ? AbortSignal.any([signal, leave.signal]) : leave.signal)
  const next = messages.next.bind(messages)
  const end = messages.return.bind(messages)
  return Object.assign(messages, {
    next: () =>
      next().catch((error: unknown) => {
        if (leave.signal.aborted) return { done: true, value: undefined } as const
        throw error
      }),
    return: () => {
      leave.abort()
      return end()
    },
  })
}
