import { Fragment, type ReactNode } from 'react'
import type { Pages } from '../ground/list-pages.ts'
import { usePageSearch } from '../ground/page-search.ts'
import { Button } from './button.tsx'
import { ListBar } from './list-bar.tsx'
import { Listing } from './listing.tsx'
import type { FormCallbacks, PanelCallbacks } from './object-panel.tsx'
import { SidePanel, WithPanel } from './side-panel.tsx'
import { type Column, Table } from './table.tsx'

interface ObjectListProps<Row extends { id: string }> {
  list: Pages<Row>
  /** What a row is, in singular: "user". */
  noun: string
  label: string
  columns: readonly Column<Row>[]
  /** Renders the form of a new object; false: the viewer may not create one. */
  form: ((ends: FormCallbacks) => ReactNode) | false
  /** Renders the panel of the object with the id. */
  panel: (id: string, ends: PanelCallbacks) => ReactNode
  /** Filters, at the left above the list. */
  filters?: ReactNode
  /** Content between the filters and the list. */
  above?: ReactNode
  /** Clears the filter; false: no filter is set. */
  clear?: (() => void) | false
  /** Shown if there are no rows and no filter: what the list is for. */
  empty: ReactNode
  /** true (default): the empty list also shows the button for a new object. */
  hasEmptyAction?: boolean
  /** The order if the URL names none. */
  defaultOrder?: string
}

/** A list of objects with a panel: the object whose id is in the parameter `open` of the URL, or the form of a new one. */
export function ObjectList<Row extends { id: string }>({ list, noun, form, ...rest }: ObjectListProps<Row>) {
  const { label, columns, panel, filters, above, clear = false, empty, hasEmptyAction = true, defaultOrder } = rest
  const { search, change } = usePageSearch()
  const { open, order = defaultOrder } = search
  const close = () => change({ open: undefined })
  const created = (id: string) => {
    list.read()
    change({ open: id }, true)
  }
  const renderForm = open === 'new' && form
  const add = form && (
    <Button look="primary" onClick={() => change({ open: 'new' })}>
      {`New ${noun}`}
    </Button>
  )
  return (
    <WithPanel
      panel={
        renderForm ? (
          <SidePanel title={`New ${noun}`} onClose={close}>
            {renderForm({ onCancel: close, onDone: created })}
          </SidePanel>
        ) : (
          open && <Fragment key={open}>{panel(open, { onClose: close, onChange: list.read })}</Fragment>
        )
      }
    >
      {(filters !== undefined || add) && <ListBar actions={add}>{filters}</ListBar>}
      {above}
      <Listing list={list} noun={`${noun}s`} clear={clear} empty={empty} emptyActions={hasEmptyAction && add}>
        {(rows) => (
          <Table
            label={label}
            columns={columns}
            rows={rows}
            getKey={({ id }) => id}
            openKey={open}
            onOpen={({ id }) => change({ open: id })}
            order={order}
            onOrder={(next) => change({ order: next === defaultOrder ? undefined : next })}
          />
        )}
      </Listing>
    </WithPanel>
  )
}
