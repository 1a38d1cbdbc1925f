import { Link } from '@tanstack/react-router'
import { describeUse, type LimitName, limitNames, limitTexts } from '../../features/policies/limit-effects.ts'
import { PoolNamesDocument } from '../../generated/graphql.ts'
import { usePageSearch } from '../../ground/page-search.ts'
import { useQuery } from '../../ground/resource.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { formatCount } from '../../parts/format.ts'
import { Choice, ListBar } from '../../parts/list-bar.tsx'
import { Empty, Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { SidePanel, WithPanel } from '../../parts/side-panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { UseBar } from '../../parts/use-bar.tsx'
import { LimitsForm } from './limits-form.tsx'
import styles from './policies.module.css'
import { ScopeLimitForm } from './scope-limit-form.tsx'
import { type PoolLimitsNow, useLimits } from './use-limits.ts'

type LimitsNow = NonNullable<ReturnType<typeof useLimits>['value']>
type ScopeLimit = PoolLimitsNow['scopes'][number]

const keyOf = ({ scope: { kind, name }, gpuModel }: ScopeLimit) =>
  [kind.toLowerCase(), name, ...(gpuModel ? [gpuModel] : [])].join(':')

export function Limits() {
  const { search, change } = usePageSearch()
  const may = useMay()
  const pools = useQuery(PoolNamesDocument, {})
  const names = pools.value?.pools.nodes.map(({ name }) => name) ?? []
  const pool = search.pool ?? names[0]
  const { value, failure, read } = useLimits(pool)
  const close = () => change({ open: undefined })
  const saved = () => {
    read()
    close()
  }
  if (pools.value && names.length === 0)
    return <Empty title="No pools">The configuration of the server names its pools.</Empty>
  if (value === null)
    return (
      <Empty
        title={`No pool ${pool}`}
        actions={<Button onClick={() => change({ pool: undefined })}>First pool</Button>}
      >
        The configuration of the server no longer has it.
      </Empty>
    )
  const trouble = failure ?? pools.failure
  if (!value) return trouble ? <Failed failure={trouble} onRetry={read} /> : <Loading />
  return (
    <WithPanel panel={<LimitPanel value={value} open={search.open} onClose={close} onSave={saved} />}>
      <ListBar actions={may('LIMITS_WRITE') && <LimitButtons onOpen={(open) => change({ open })} />}>
        <Choice
          label="Pool"
          value={pool}
          options={names.map((name) => [name, name] as const)}
          onChange={(next) => change({ pool: next, open: undefined })}
        />
      </ListBar>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      <LimitTables
        value={value}
        open={search.open}
        {...(may('LIMITS_WRITE') && { onOpen: (open: string) => change({ open }) })}
      />
    </WithPanel>
  )
}

const LimitButtons = ({ onOpen }: { onOpen: (open: string) => void }) => (
  <>
    <Button onClick={() => onOpen('new')}>New limit</Button>
    <Button look="primary" onClick={() => onOpen('pool')}>
      Edit
    </Button>
  </>
)

interface LimitPanelProps {
  value: LimitsNow
  open: string | undefined
  onClose: () => void
  onSave: () => void
}

function LimitPanel({ value: { limits, use }, open, onClose, onSave }: LimitPanelProps) {
  const may = useMay()
  if (!open || !may('LIMITS_WRITE')) return null
  const forms = { limits, onCancel: onClose, onDone: onSave }
  const key = `${limits.pool.name} ${open}`
  const chosen = limits.scopes.find((each) => keyOf(each) === open)
  return (
    <SidePanel title={open === 'pool' ? `Limits of ${limits.pool.name}` : 'Limit'} onClose={onClose}>
      {open === 'pool' && <LimitsForm key={key} {...forms} use={use} />}
      {open !== 'pool' && (chosen || open === 'new') && <ScopeLimitForm key={key} {...forms} limit={chosen} />}
      {open !== 'pool' && !chosen && open !== 'new' && (
        <Empty title="This limit does not exist">It was removed, or belongs to another pool.</Empty>
      )}
    </SidePanel>
  )
}

interface LimitTablesProps {
  value: LimitsNow
  open: string | undefined
  onOpen?: (open: string) => void
}

const LimitTables = ({ value, open, onOpen }: LimitTablesProps) => (
  <>
    <Table
      label={`Limits of ${value.limits.pool.name}`}
      columns={poolColumns(value)}
      rows={limitNames}
      getKey={(name) => name}
      {...(onOpen && { onOpen: () => onOpen('pool') })}
    />
    <h2 className={styles.section}>Limits of queues, projects, teams and users</h2>
    {value.limits.scopes.length === 0 ? (
      <p className={styles.none}>None. A limit of its own for one of them applies beside those above.</p>
    ) : (
      <Table
        label="Limits of queues, projects, teams and users"
        columns={scopeColumns}
        rows={value.limits.scopes}
        getKey={keyOf}
        openKey={open}
        {...(onOpen && { onOpen: (limit: ScopeLimit) => onOpen(keyOf(limit)) })}
      />
    )}
  </>
)

const formatLimit = (limit: number | null) => (limit === null ? 'unlimited' : formatCount(limit))

const poolColumns = ({
  limits,
  use,
}: NonNullable<ReturnType<typeof useLimits>['value']>): readonly Column<LimitName>[] => [
  { title: 'Limit', cell: (name) => limitTexts[name].title },
  {
    title: 'At most',
    isNumber: true,
    cell: (name) =>
      limitTexts[name].needsFairShare && !limits.enableFairShare
        ? `${formatLimit(limits[name])}, off`
        : formatLimit(limits[name]),
  },
  {
    title: 'In use now',
    isNumber: true,
    cell: (name) =>
      name === 'maxConcurrent' ? (
        <Link to="/jobs" search={{ pool: limits.pool.name, state: 'active' }} className={styles.link}>
          {describeUse(name, use)}
        </Link>
      ) : (
        describeUse(name, use)
      ),
  },
  { title: 'Beyond it', isSecondary: true, cell: (name) => limitTexts[name].counts },
]

const scopeColumns: readonly Column<ScopeLimit>[] = [
  {
    title: 'Of',
    cell: ({ scope: { kind, name }, gpuModel }) => (
      <>
        {kind.toLowerCase()} {name}
        {gpuModel && <small className={styles.faint}> on {gpuModel}</small>}
      </>
    ),
  },
  { title: 'Jobs', cell: ({ jobsInUse, maxJobs }) => <UseBar label="Jobs" used={jobsInUse} limit={maxJobs} /> },
  { title: 'GPUs', cell: ({ gpusInUse, maxGpus }) => <UseBar label="GPUs" used={gpusInUse} limit={maxGpus} /> },
]
