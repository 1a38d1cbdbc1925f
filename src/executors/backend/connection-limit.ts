import type { Duplex } from 'node:stream'
import { createSerial } from '../../platform/serial.ts'
import { SessionRefused } from '../executor.ts'

const connectionsMax = 64
/** sshd drops connections at random while ten log in. */
const beginningMax = 4

/** Limits connections that are processes, such as ssh: how many exist, and how many begin at the same time. */
export class ConnectionLimit {
  readonly #where: string
  readonly #begin = createSerial()
  #count = 0
  #turn = 0

  constructor(where: string) {
    this.#where = where
  }

  /** Throws SessionRefused if there are too many. */
  async open(make: () => Promise<Duplex>): Promise<Duplex> {
    if (this.#count >= connectionsMax)
      throw new SessionRefused(
        `${connectionsMax} connections lead to ports of jobs ${this.#where}, the maximum; end some, or try again`,
      )
    this.#count++
    const leave = () => void this.#count--
    try {
      const connection = await this.#begin.run(String(this.#turn++ % beginningMax), make)
      if (connection.closed) leave()
      else connection.once('close', leave)
      return connection
    } catch (error) {
      leave()
      throw error
    }
  }
}
