import { useKeys } from '../../ground/keys.ts'

interface RowKeys {
  ids: readonly string[]
  focusedId: string | null
  onMove: (id: string, index: number) => void
  onSelect: (id: string, isRange: boolean) => void
  onPeek: (id: string) => void
  onEdge: (edge: 'START' | 'END') => void
}

/** Binds the keys that move through the rows. The focus belongs to a job id, because rows may move. */
export function useRowKeys({ ids, focusedId, onMove, onSelect, onPeek, onEdge }: RowKeys): void {
  const index = focusedId === null ? -1 : ids.indexOf(focusedId)
  const step = (by: number) => {
    const next = Math.max(0, Math.min(ids.length - 1, index + by))
    const id = ids[next]
    if (id !== undefined) onMove(id, next)
  }
  const withRow = (run: (id: string) => void) => () => {
    if (focusedId !== null) run(focusedId)
  }
  useKeys('Rows', [
    { keys: 'j', help: 'Next row', run: () => step(1) },
    { keys: 'k', help: 'Previous row', run: () => step(-1) },
    { keys: 'o', help: 'Peek at the row', run: withRow(onPeek) },
    { keys: 'x', help: 'Select the row', run: withRow((id) => onSelect(id, false)) },
    { keys: 'Shift+X', help: 'Select up to the row', run: withRow((id) => onSelect(id, true)) },
    { keys: 'Home', help: 'First row', run: () => onEdge('START') },
    { keys: 'End', help: 'Last row', run: () => onEdge('END') },
  ])
}
