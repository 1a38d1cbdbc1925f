import type { ServerResponse } from 'node:http'

/**
 * Cuts HTTP streams whose reader takes nothing: bytes waited for twice `everyMs`, and none was taken. (A WebSocket is cut
 * when it does not answer a ping.) Returns the function that stops watching.
 */
export function cutWhenStalled(response: ServerResponse, everyMs: number): () => void {
  let takenBefore = -1
  const timer = setInterval(() => {
    const { socket } = response
    const waits = socket !== null && socket.writableLength > 0
    const taken = socket === null ? 0 : socket.bytesWritten - socket.writableLength
    if (waits && taken === takenBefore) response.destroy()
    takenBefore = waits ? taken : -1
  }, everyMs)
  return () => clearInterval(timer)
}
