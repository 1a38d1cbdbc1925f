import type { Duplex } from 'node:stream'
import { createSerial } from '../../platform/serial.ts'
import { SessionRefused } from '../executor.ts'

const connectionsMax = 64
/** Kept below ten: sshd drops connections at random while ten log in. */
const beginningMax = 4

type OpenConnection = (make: () => Promise<Duplex>) => Promise<Duplex>

/**
 * Limits connections that are processes, such as ssh: how many exist, and how many begin at the same time. The result
 * throws SessionRefused if there are too many.
 */
export function limitConnections(where: string): OpenConnection {
  const begin = createSerial()
  let count = 0
  let turn = 0
  return async (make) => {
    if (count >= connectionsMax)
      throw new SessionRefused(
        `${connectionsMax} connections lead to ports of jobs ${where}, the maximum; end some, or try again`,
      )
    count++
    const leave = () => void count--
    try {
      const connection = await begin.run(String(turn++ % beginningMax), make)
      if (connection.closed) leave()
      else connection.once('close', leave)
      return connection
    } catch (error) {
      leave()
      throw error
    }
  }
}
