import { mayRunOnKind } from './machines.ts'

/**
 * Moves allocations to the nodes that a backend chooses. Pure function. The allocation of a run is provisional until
 * its backend reports the node. Then it moves to that node, whether it fits or not, because the run is there. Other
 * provisional allocations that no longer fit move to the nodes that became free, so the total stays the same.
 */

export interface Booking {
  runId: string
  replica: number
  nodeId: string
  cpu: number
  memory: number
  /** Device indexes that count as used. Only their number is meaningful. */
  slots: readonly number[]
  provisional: boolean
  gpuIds: readonly number[]
  exclusive: boolean
}

export interface Book {
  id: string
  name: string
  cpu: number
  memory: number
  /** Indexes of the devices that are not used outside Berth. */
  devices: readonly number[]
  gpuJobsOnly: boolean
  /** Bookings in the order of their starts. */
  bookings: readonly Booking[]
}

export interface Chosen {
  node: string
  gpuIds: readonly number[]
}

/** Returns the changed bookings. Copies on nodes that are not in `books` stay. */
export function listRebookings(books: readonly Book[], chosenByRun: ReadonlyMap<string, readonly Chosen[]>): Booking[] {
  const pages = new Map(books.map((book) => [book.name, new Page(book)]))
  const all = [...pages.values()]
  const vacated: Page[] = []
  const targets = new Set<Page>()
  for (const page of all)
    for (const booking of [...page.bookings]) {
      const chosen = findChosenNode(booking, chosenByRun)
      const target = chosen && pages.get(chosen.node)
      if (!target) continue
      page.remove(booking)
      target.add({ ...booking, gpuIds: chosen.gpuIds, provisional: false, ...(booking.exclusive && target.whole) })
      if (target === page) continue
      vacated.push(page)
      targets.add(target)
    }
  for (const target of targets) makeRoom(target, vacated, chosenByRun)
  for (const page of all) page.number()
  const before = new Map(books.flatMap(({ bookings }) => bookings.map((each) => [keyOf(each), JSON.stringify(each)])))
  return all.flatMap(({ bookings }) => bookings.filter((each) => before.get(keyOf(each)) !== JSON.stringify(each)))
}

const keyOf = ({ runId, replica }: Booking): string => `${runId}/${replica}`

/** Finds the node chosen for a copy; copies share nodes if the backend reports fewer nodes than copies. */
function findChosenNode(
  { runId, replica }: Booking,
  chosenByRun: ReadonlyMap<string, readonly Chosen[]>,
): Chosen | null {
  const chosen = chosenByRun.get(runId) ?? []
  return chosen[replica % chosen.length] ?? null
}

/** Removes the newest provisional bookings first, because the backend starts the oldest runs first. */
function makeRoom(target: Page, vacated: readonly Page[], settled: ReadonlyMap<string, unknown>): void {
  for (const booking of target.bookings.toReversed()) {
    if (!target.isOverfull) return
    if (!booking.provisional || settled.has(booking.runId)) continue
    const others = vacated.filter((page) => page !== target && page.takes(booking))
    const best = others.find((page) => page.fits(booking)) ?? others.find((page) => !page.isOverfull)
    if (!best) return
    target.remove(booking)
    best.add(booking)
  }
}

class Page {
  readonly bookings: Booking[] = []
  readonly #book: Book
  #cpu: number
  #memory: number
  #gpus: number

  constructor(book: Book) {
    this.#book = book
    this.#cpu = book.cpu
    this.#memory = book.memory
    this.#gpus = book.devices.length
    for (const booking of book.bookings) this.add(booking)
  }

  get whole(): Pick<Booking, 'cpu' | 'memory' | 'slots'> {
    return { cpu: this.#book.cpu, memory: this.#book.memory, slots: this.#book.devices }
  }

  get isOverfull(): boolean {
    return this.#cpu < 0 || this.#memory < 0 || this.#gpus < 0
  }

  takes({ slots }: Booking): boolean {
    return mayRunOnKind({ gpu: slots.length }, this.#book)
  }

  fits({ cpu, memory, slots }: Booking): boolean {
    return cpu <= this.#cpu && memory <= this.#memory && slots.length <= this.#gpus
  }

  add(booking: Booking): void {
    this.bookings.push({ ...booking, nodeId: this.#book.id })
    this.#count(booking, 1)
  }

  remove(booking: Booking): void {
    const at = this.bookings.findIndex((each) => keyOf(each) === keyOf(booking))
    const [removed] = this.bookings.splice(at, 1)
    if (removed) this.#count(removed, -1)
  }

  #count({ cpu, memory, slots }: Booking, one: 1 | -1): void {
    this.#cpu -= one * cpu
    this.#memory -= one * memory
    this.#gpus -= one * slots.length
  }

  /** Gives each booking its own device indexes. If there are too few devices, some indexes exceed those of the devices. */
  number(): void {
    const { devices } = this.#book
    const used = new Set<number>()
    const keeps = this.bookings.map(({ slots }) => {
      const kept = slots.filter((slot) => devices.includes(slot) && !used.has(slot))
      for (const slot of kept) used.add(slot)
      return kept
    })
    const free = devices.filter((device) => !used.has(device))
    let behind = Math.max(-1, ...devices)
    for (const [at, booking] of this.bookings.entries()) {
      const slots = [...(keeps[at] ?? [])]
      while (slots.length < booking.slots.length) slots.push(free.shift() ?? ++behind)
      if (slots.join() !== booking.slots.join()) this.bookings[at] = { ...booking, slots }
    }
  }
}
