"""The documents of the client. `npm run codegen` writes this file."""

PYTHON_SUBMIT_JOB = """
    mutation PythonSubmitJob($input: SubmitJobInput!) {
  submitJob(input: $input) {
    __typename
    ... on SubmitJobSuccess {
      idempotentHit
      warnings
      job {
        ...LiveJob
      }
    }
    ...Problem
  }
}
    fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
    requiredScope
    requiredLevel
  }
}
fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}"""

PYTHON_SUBMIT_JOBS = """
    mutation PythonSubmitJobs($input: SubmitJobsInput!) {
  submitJobs(input: $input) {
    __typename
    ... on SubmitJobsSuccess {
      results {
        __typename
        ... on SubmitJobSuccess {
          idempotentHit
          warnings
          job {
            ...LiveJob
          }
        }
        ...Problem
      }
    }
    ...Problem
  }
}
    fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
    requiredScope
    requiredLevel
  }
}
fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}"""

PYTHON_RETRY_JOB = """
    mutation PythonRetryJob($input: RetryJobInput!) {
  retryJob(input: $input) {
    __typename
    ... on RetryJobSuccess {
      idempotentHit
      warnings
      job {
        ...LiveJob
      }
    }
    ...Problem
  }
}
    fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
    requiredScope
    requiredLevel
  }
}
fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}"""

PYTHON_CANCEL_JOB = """
    mutation PythonCancelJob($input: CancelJobInput!) {
  cancelJob(input: $input) {
    __typename
    ... on CancelJobSuccess {
      job {
        ...LiveJob
      }
    }
    ...Problem
  }
}
    fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
    requiredScope
    requiredLevel
  }
}
fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}"""

PREVIEW_JOB = """
    query PreviewJob($input: PreviewJobInput!) {
  previewJob(input: $input) {
    __typename
    ...JobPreviewRow
    ...Problem
  }
}
    fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
    requiredScope
    requiredLevel
  }
}
fragment QuotaEffect on QuotaEffect {
  type
  action
  scope {
    kind
    name
  }
  limit
  used
  usedAfter
}
fragment JobPreviewRow on JobPreview {
  wouldBe
  nodeNames
  gpuIds
  position
  reasons {
    code
    message
    job {
      id
    }
    scope {
      kind
      name
    }
    limit
    used
  }
  fit {
    freeNow
    couldEverFit
    missing
  }
  estimatedStart {
    p50
    p90
    earliest
    latest
    message
  }
  approval {
    rule {
      id
      name
    }
    requiredLevel
    reason
    expiresAfterSeconds
  }
  cost {
    amount
    currency
  }
  quotas {
    ...QuotaEffect
  }
  preempts {
    id
  }
  preemptedCount
  warnings
  idempotentJob {
    id
  }
}"""

PYTHON_JOB = """
    query PythonJob($id: ID!) {
  job(id: $id) {
    ...LiveJob
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}"""

PYTHON_KEY = """
    query PythonKey($key: String!) {
  idempotencyKey(key: $key) {
    key
    job {
      ...LiveJob
    }
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}"""

PYTHON_EXPLANATION = """
    query PythonExplanation($id: ID!) {
  job(id: $id) {
    ...JobExplanation
  }
}
    fragment JobExplanation on Job {
  id
  state
  stateReason
  stateInfo
  exitCode
  scheduling {
    jobsAhead
    positionIsExact
    reasons {
      code
      message
    }
    gates {
      code
      open
      opensAt
      message
      job {
        id
      }
    }
    fit {
      missing
    }
    estimatedStart {
      p50
      p90
      earliest
      latest
      message
    }
  }
}"""

PYTHON_JOB_EVENTS = """
    query PythonJobEvents($id: ID!, $first: Int, $after: Cursor) {
  job(id: $id) {
    ...LiveJob
    eventCursor
    events(first: $first, after: $after) {
      nodes {
        ...JobEventRow
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}
fragment JobEventRow on JobEvent {
  id
  seq
  at
  type
  from
  to
  psijState
  stateReason
  message
  exitCode
  runNumber
  detail {
    __typename
    ... on StateChangeDetail {
      nativeId
    }
  }
}"""

LIVE_JOBS = """
    query LiveJobs($first: Int, $after: Cursor, $filter: JobFilter, $orderBy: JobOrder) {
  jobs(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    asOf
    nodes {
      ...LiveJob
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}"""

JOB_SPEC = """
    query JobSpec($id: ID!) {
  job(id: $id) {
    id
    name
    state
    spec {
      ...SpecFields
    }
  }
}
    fragment SpecFields on JobSpec {
  name
  command
  executable
  arguments
  handler
  input
  image
  snapshot
  outputs
  workdir
  queue
  executor
  resources {
    cpu
    memoryBytes
    gpu
    gpuModel
    gpuMemoryBytes
    gpuTensorCores
    cudaVersion
    gpuIds
    anyGpu
    cpuModel
    infiniband
    replicas
    replicaMasterPort
    nodeCount
    processCount
    processesPerNode
    cpuCoresPerProcess
    gpuCoresPerProcess
    exclusiveNodeUse
  }
  maxRunTimeSeconds
  durationSeconds
  notBefore
  dependsOn {
    jobId
    on
  }
  onDependencyFailure
  retry {
    maxAttempts
    onExitCodes
  }
  interactive
  preemptable
  restartable
  resumable
  inheritEnvironment
  environment {
    name
    value
  }
  secrets
  labels {
    key
    value
  }
  launcher
  preLaunch
  postLaunch
  stdinPath
  stdoutPath
  stderrPath
  data
  pull
  networkIsolation
  internalDns {
    name
    ports {
      port
      targetPort
      protocol
    }
  }
  x11 {
    gpu
  }
  team
  project
  account
  capacityReservationId
  bid
  estimatedCost
  customAttributes
}"""

ARTIFACTS = """
    query Artifacts($id: ID!, $first: Int, $after: Cursor) {
  job(id: $id) {
    id
    artifacts(first: $first, after: $after) {
      nodes {
        ...ArtifactRow
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
    fragment ArtifactRow on Artifact {
  id
  name
  kind
  mediaType
  sizeBytes
  sha256
  uri
  createdAt
}"""

ARTIFACT = """
    query Artifact($id: ID!) {
  node(id: $id) {
    id
    __typename
    ... on Artifact {
      ...ArtifactRow
      body
      job {
        id
      }
    }
  }
}
    fragment ArtifactRow on Artifact {
  id
  name
  kind
  mediaType
  sizeBytes
  sha256
  uri
  createdAt
}"""

PYTHON_JOB_STATUS = """
    subscription PythonJobStatus($jobId: ID!, $after: Cursor) {
  jobStatus(jobId: $jobId, after: $after) {
    __typename
    ... on JobTransitions {
      job {
        ...LiveJob
      }
      transitions {
        ...JobEventRow
      }
      cursor
      isFinal
    }
    ... on StreamReset {
      resetReason
      cursor
    }
    ... on StreamHeartbeat {
      cursor
    }
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment LiveJob on Job {
  ...JobRow
  stateCategory
  priority
  basePriority
  priorityOverride
  executor
  account
  project
  pool {
    id
    name
  }
  labels {
    key
    value
  }
  queuedAt
  allowedActions
  progress {
    fraction
    message
    at
  }
}
fragment JobEventRow on JobEvent {
  id
  seq
  at
  type
  from
  to
  psijState
  stateReason
  message
  exitCode
  runNumber
  detail {
    __typename
    ... on StateChangeDetail {
      nativeId
    }
  }
}"""

JOB_UPDATES = """
    subscription JobUpdates($filter: JobFilter, $after: Cursor) {
  jobUpdates(filter: $filter, after: $after) {
    __typename
    ... on JobTransitions {
      job {
        ...JobRow
      }
      transitions {
        id
        ...JobEventRow
      }
      matches
      cursor
    }
    ... on StreamReset {
      resetReason
      jobIds
      cursor
    }
    ... on StreamHeartbeat {
      cursor
    }
  }
}
    fragment JobRow on Job {
  id
  version
  name
  state
  psijState
  stateReason
  stateInfo
  exitCode
  nativeId
  attempt
  queue {
    id
    name
  }
  user {
    id
    name
  }
  createdAt
  startedAt
  finishedAt
}
fragment JobEventRow on JobEvent {
  id
  seq
  at
  type
  from
  to
  psijState
  stateReason
  message
  exitCode
  runNumber
  detail {
    __typename
    ... on StateChangeDetail {
      nativeId
    }
  }
}"""

TAIL = """
    subscription Tail($jobId: ID!, $after: Cursor, $lastLines: Int, $streams: [LogStream!], $run: Int) {
  tail(
    jobId: $jobId
    after: $after
    lastLines: $lastLines
    streams: $streams
    run: $run
  ) {
    __typename
    ... on LogBatch {
      text
      cursor
      isFinal
    }
    ... on LogGap {
      runNumber
      startOffset
      endOffset
      gapReason
      cursor
    }
    ... on RunChanged {
      run {
        id
        number
      }
      cursor
    }
    ... on StreamReset {
      resetReason
      cursor
    }
    ... on StreamHeartbeat {
      cursor
    }
  }
}
    """

JOB_LOGS = """
    query JobLogs($id: ID!, $from: LogStart, $first: Int, $streams: [LogStream!], $run: Int) {
  job(id: $id) {
    id
    logs(from: $from, first: $first, streams: $streams, run: $run) {
      text
      gaps {
        runNumber
        startOffset
        endOffset
        gapReason
      }
      cursor
      isFinal
    }
  }
}
    """

REPORT_PROGRESS = """
    mutation ReportProgress($input: ReportProgressInput!) {
  reportProgress(input: $input) {
    __typename
    ...Problem
  }
}
    fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
    requiredScope
    requiredLevel
  }
}"""

PUBLISH_ARTIFACT = """
    mutation PublishArtifact($input: PublishArtifactInput!) {
  publishArtifact(input: $input) {
    __typename
    ... on PublishArtifactSuccess {
      artifact {
        id
      }
    }
    ...Problem
  }
}
    fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
    requiredScope
    requiredLevel
  }
}"""

SAVE_CLOSURE = """
    mutation SaveClosure($input: SaveClosureInput!) {
  saveClosure(input: $input) {
    __typename
    ...Problem
  }
}
    fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
    requiredScope
    requiredLevel
  }
}"""

SNAPSHOT_LIMITS = """
    query SnapshotLimits {
  serverInfo {
    id
    maxSnapshotBytes
    maxSnapshotFiles
  }
}
    """

CREATE_SNAPSHOT = """
    mutation CreateSnapshot($input: CreateSnapshotInput!) {
  createSnapshot(input: $input) {
    __typename
    ... on CreateSnapshotSuccess {
      snapshot {
        id
      }
      uploadUrl
    }
    ...Problem
  }
}
    fragment Problem on Problem {
  __typename
  code
  message
  retryable
  ... on InvalidInputProblem {
    violations {
      path
      message
    }
  }
  ... on ForbiddenProblem {
    requiredPermission
    requiredScope
    requiredLevel
  }
}"""
