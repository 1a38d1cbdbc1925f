import type { MouseEvent, ReactNode } from 'react'
import styles from './table.module.css'

export interface Column<Row> {
  title: string
  cell: (row: Row) => ReactNode
  /** true: the cells are numbers, aligned right. */
  isNumber?: boolean
  /** true: hidden on narrow pages. */
  isSecondary?: boolean
  /** The order that a click on the title chooses. */
  order?: string
  /** true: the order begins with the smallest value. */
  isAscending?: boolean
}

interface TableProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  getKey: (row: Row) => string
  /** The key of the row whose panel is open. */
  openKey?: string | undefined
  onOpen?: (row: Row) => void
  order?: string | undefined
  onOrder?: (order: string) => void
}

/** true: the target is a control, so a click on it does not open its row. */
export const isControl = (target: EventTarget): boolean =>
  target instanceof Element && target.closest('a, button, input, label') !== null

/** A table for short lists. The job list has its own, because it may be long. */
export function Table<Row>({ label, columns, rows, getKey, openKey, onOpen, order, onOrder }: TableProps<Row>) {
  const open = (event: MouseEvent, row: Row) => {
    if (!isControl(event.target)) onOpen?.(row)
  }
  return (
    <table className={styles.table} aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <Heading key={column.title} column={column} isOrder={column.order === order} onOrder={onOrder} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const key = getKey(row)
          return (
            <tr
              key={key}
              className={onOpen && styles.openable}
              aria-selected={onOpen ? key === openKey : undefined}
              onClick={(event) => open(event, row)}
            >
              {columns.map((column, i) => (
                <td key={column.title} className={classOf(column)}>
                  {i === 0 && onOpen ? (
                    <button type="button" className={styles.open} onClick={() => onOpen(row)}>
                      {column.cell(row)}
                    </button>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

const classOf = ({ isNumber, isSecondary }: Pick<Column<never>, 'isNumber' | 'isSecondary'>) =>
  [isNumber && styles.number, isSecondary && styles.secondary].filter(Boolean).join(' ')

interface HeadingProps {
  column: Pick<Column<never>, 'title' | 'isNumber' | 'isSecondary' | 'order' | 'isAscending'>
  isOrder: boolean
  onOrder: ((order: string) => void) | undefined
}

function Heading({ column, isOrder, onOrder }: HeadingProps) {
  const { title, order, isAscending = false } = column
  const direction = isAscending ? 'ascending' : 'descending'
  return (
    <th scope="col" className={classOf(column)} aria-sort={order && isOrder ? direction : undefined}>
      {order && onOrder ? (
        <button type="button" className={styles.sort} onClick={() => onOrder(order)}>
          {title}
        </button>
      ) : (
        title
      )}
    </th>
  )
}
