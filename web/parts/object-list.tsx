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
  /** In lower case: "user". */
  noun: string
  label: string
  columns: readonly Column<Row>[]
  /** Renders the form of a new object; false: the viewer may not create one. */
  form: ((ends: FormCallbacks) => ReactNode) | false
  /** The panel of an object, by its id. */
  panel: (id: string, ends: PanelCallbacks) => ReactNode
  /** Above the list, at the left of its button. */
  filters?: ReactNode
  /** Between the filters and the list. */
  above?: ReactNode
  /** Forgets the filter; false: there is none. */
  clear?: (() => void) | false
  /** Without rows and without a filter: what would be here. */
  empty: ReactNode
  /** The button for a new object also stands in place of rows. */
  hasEmptyAction?: boolean
  /** The order without one in the URL. */
  defaultOrder?: string
}

/** The objects of one kind: a list, and beside it the one that `open` of the URL names, or the form of a new one. */
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
