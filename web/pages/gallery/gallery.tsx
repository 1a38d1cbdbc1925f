import { RequestFailed } from '@berth-jobs/berth/client'
import type { ReactNode } from 'react'
import { openLayer } from '../../ground/layer-store.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { Button, Key } from '../../parts/button.tsx'
import { numberUnit } from '../../parts/chart-units.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Forbidden } from '../../parts/forbidden.tsx'
import { CheckField, Form, refusal, SelectField, TextField } from '../../parts/form.tsx'
import { Choice, ListBar, SearchField } from '../../parts/list-bar.tsx'
import { MenuButton } from '../../parts/menu-button.tsx'
import { Empty, Failed, FailedInline, Loading, Missing } from '../../parts/page-states.tsx'
import { StateChip } from '../../parts/state-glyph.tsx'
import { states } from '../../parts/states.ts'
import { Table } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Duration, Time } from '../../parts/time.tsx'
import { TimeChart } from '../../parts/time-chart.tsx'
import { showToast } from '../../parts/toasts.tsx'
import { UseBar } from '../../parts/use-bar.tsx'
import styles from './gallery.module.css'

const failure = new RequestFailed('UNAVAILABLE', 'The database does not answer.', { requestId: 'req_01kaj' })
const someTime = '2026-11-24T10:00:00Z'
const minuteMs = 60_000
const measured = Array.from({ length: 60 }, (_, minute) => minute)

/** Each shared component in its states, light and dark. Only in development. */
export function GalleryPage() {
  usePageTitle('Gallery')
  return (
    <div className={styles.page}>
      <section className={styles.light} aria-label="Light">
        <Components />
      </section>
      <section className={styles.dark} aria-label="Dark">
        <Components />
      </section>
    </div>
  )
}

const Item = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className={styles.item}>
    <h2>{title}</h2>
    {children}
  </div>
)

const Components = () => (
  <>
    <Item title="State chip">
      {states.map((state) => (
        <StateChip key={state} state={state} fraction={state === 'RUNNING' ? 0.6 : null} detail="a reason" />
      ))}
    </Item>
    <Buttons />
    <Item title="Times">
      <Time at={someTime} />
      <Duration from={someTime} to="2026-11-24T11:02:00Z" />
    </Item>
    <Item title="Use bar">
      <UseBar label="Fine" used={3} limit={8} />
      <UseBar label="Near" used={7} limit={8} />
      <UseBar label="Over" used={9} limit={8} />
      <UseBar label="Unlimited" used={9} limit={null} />
    </Item>
    <Item title="Facts">
      <Facts
        facts={[
          ['Level', 'lead'],
          ['Id', <code key="id">user_01kaj</code>],
          ['Left out', null],
        ]}
      />
    </Item>
    <Lists />
    <Forms />
    <Item title="Chart">
      <TimeChart
        title="Running jobs"
        at={measured.map((minute) => Date.parse(someTime) + minute * minuteMs)}
        series={[
          { name: 'gpu', color: 'var(--state-running)', values: measured.map((minute) => 20 + (minute % 7)) },
          { name: 'cpu', color: 'var(--state-succeeded)', values: measured.map((minute) => 9 + (minute % 5)) },
        ]}
        unit={numberUnit}
      />
    </Item>
    <PageStates />
  </>
)

const Buttons = () => (
  <Item title="Buttons">
    <Button>Plain</Button>
    <Button look="primary">Primary</Button>
    <Button look="danger">Danger</Button>
    <Button look="quiet">Quiet</Button>
    <Button disabled>Disabled</Button>
    <CopyButton text="text" what="text" />
    <Key>Ctrl</Key>
    <MenuButton
      label="Menu"
      items={[
        { text: 'Rename', run: () => undefined },
        { text: 'Delete', detail: 'for good', isDangerous: true, run: () => undefined },
      ]}
    />
    <Button onClick={() => showToast('Saved')}>Toast</Button>
    <Button onClick={() => showToast('Refused: too many jobs', { isTrouble: true })}>Trouble</Button>
    <Button
      onClick={() =>
        openLayer({
          kind: 'CONFIRM',
          confirmation: {
            title: 'Delete 24 jobs?',
            effect: 'Their logs and artifacts are lost.',
            jobs: states.map((state) => ({ id: `job_${state}`, name: state.toLowerCase(), state })),
            count: 24,
            command: 'berth rm job_…',
            confirmText: 'Delete 24 jobs',
            hasReason: true,
            run: () => Promise.resolve('One of the jobs runs again.'),
          },
        })
      }
    >
      Confirm
    </Button>
  </Item>
)

const Lists = () => (
  <Item title="List">
    <Tabs
      label="Parts"
      tabs={[
        { title: 'Shown', count: 3, isShown: true, to: '/gallery' },
        { title: 'Other', isShown: false, to: '/settings' },
      ]}
    />
    <ListBar actions={<Button look="primary">New</Button>}>
      <SearchField label="Name" text="" onChange={() => undefined} />
      <Choice label="Level" any="Any level" value={undefined} options={[['lead', 'lead']]} onChange={() => undefined} />
    </ListBar>
    <Table
      label="Rows"
      rows={['ann', 'ben']}
      getKey={(name) => name}
      openKey="ben"
      onOpen={() => undefined}
      order="name"
      onOrder={() => undefined}
      columns={[
        { title: 'Name', order: 'name', cell: (name) => name },
        { title: 'Jobs', isNumber: true, cell: (name) => name.length },
      ]}
    />
  </Item>
)

const wrong = {
  ...refusal('The input is invalid.'),
  violations: [
    { path: 'cpu', message: 'must be positive' },
    { path: 'teams', message: 'ml does not exist' },
  ],
}

const Forms = () => (
  <Item title="Form">
    <Form submitText="Save" onCancel={() => undefined} onSubmit={() => Promise.resolve(wrong)}>
      <TextField label="CPU" help="Save refuses it." path="cpu" defaultValue="-1" onChange={() => undefined} />
      <SelectField label="Pool" path="pool" value="one" options={[['one', 'one']]} onChange={() => undefined} />
      <CheckList
        label="Teams"
        help="Any number."
        path="teams"
        options={[
          { value: 'ml', text: 'ml' },
          { value: 'vision', text: 'vision', isDisabled: true },
        ]}
        chosen={['ml']}
        onChange={() => undefined}
      />
      <CheckField text="A switch" isChecked onChange={() => undefined} />
    </Form>
  </Item>
)

const PageStates = () => (
  <Item title="Page states">
    <Loading />
    <Empty title="No jobs yet" actions={<Button>New job</Button>}>
      Jobs appear here as they are submitted.
    </Empty>
    <Failed failure={failure} onRetry={() => undefined} />
    <FailedInline failure={failure} onRetry={() => undefined} />
    <Missing what="This job" />
    <Forbidden permission="AUDIT_READ" />
  </Item>
)
