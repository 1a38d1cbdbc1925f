/** Members of interfaces and unions. */
export const possibleTypes: Record<string, string[]> = {
  AddNodeResult: ["AddNodeSuccess","ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem"],
  ApproveJobResult: ["ApprovalNotAllowedProblem","ApproveJobSuccess","ForbiddenProblem","InvalidInputProblem","InvalidStateProblem","NotFoundProblem","UnavailableProblem","VersionConflictProblem"],
  CancelJobResult: ["CancelJobSuccess","ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem","VersionConflictProblem"],
  CleanupJobsResult: ["CleanupJobsSuccess","ForbiddenProblem","InvalidInputProblem","UnavailableProblem"],
  CreateApprovalRuleResult: ["CreateApprovalRuleSuccess","ForbiddenProblem","InvalidInputProblem","UnavailableProblem"],
  CreateCapacityReservationResult: ["CreateCapacityReservationSuccess","ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem"],
  CreateQuotaResult: ["CreateQuotaSuccess","ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem"],
  CreateTeamResult: ["CreateTeamSuccess","ForbiddenProblem","InvalidInputProblem","UnavailableProblem"],
  CreateTokenResult: ["CreateTokenSuccess","ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem"],
  CreateUserResult: ["CreateUserSuccess","ForbiddenProblem","InvalidInputProblem","UnavailableProblem"],
  DeleteJobResult: ["DeleteJobSuccess","ForbiddenProblem","InvalidStateProblem","NotFoundProblem","UnavailableProblem","VersionConflictProblem"],
  DeleteResult: ["DeleteSuccess","ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem"],
  JobStatusMessage: ["JobTransitions","StreamHeartbeat","StreamReset"],
  JobUpdatesMessage: ["JobTransitions","StreamHeartbeat","StreamReset"],
  Node: ["ApiToken","Approval","ApprovalRule","Artifact","AuditEntry","CapacityReservation","Hold","Job","JobEvent","Pool","PoolNode","Quota","Run","SlotReservation","SubmissionQueue","Team","User"],
  Problem: ["ApprovalNotAllowedProblem","ForbiddenProblem","IdempotencyConflictProblem","InvalidInputProblem","InvalidStateProblem","NotFoundProblem","QuotaExceededProblem","RejectedProblem","ReservationExpiredProblem","UnavailableProblem","VersionConflictProblem"],
  RejectJobResult: ["ApprovalNotAllowedProblem","ForbiddenProblem","InvalidInputProblem","InvalidStateProblem","NotFoundProblem","RejectJobSuccess","UnavailableProblem","VersionConflictProblem"],
  ReleaseSlotResult: ["ForbiddenProblem","NotFoundProblem","ReleaseSlotSuccess","UnavailableProblem"],
  ReserveSlotResult: ["ForbiddenProblem","InvalidInputProblem","QuotaExceededProblem","ReserveSlotSuccess","UnavailableProblem"],
  RevokeTokenResult: ["ForbiddenProblem","NotFoundProblem","RevokeTokenSuccess","UnavailableProblem"],
  SetJobPriorityResult: ["ForbiddenProblem","InvalidInputProblem","InvalidStateProblem","NotFoundProblem","SetJobPrioritySuccess","UnavailableProblem","VersionConflictProblem"],
  SetScopeLimitResult: ["ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem","UpdateLimitsSuccess"],
  SubmitJobResult: ["DryRun","ForbiddenProblem","IdempotencyConflictProblem","InvalidInputProblem","InvalidStateProblem","NotFoundProblem","QuotaExceededProblem","RejectedProblem","ReservationExpiredProblem","SubmitJobSuccess","UnavailableProblem","VersionConflictProblem"],
  TailMessage: ["LogBatch","LogGap","RunChanged","StreamHeartbeat","StreamReset"],
  UpdateApprovalRuleResult: ["ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem","UpdateApprovalRuleSuccess"],
  UpdateLimitsResult: ["ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem","UpdateLimitsSuccess"],
  UpdateNodeResult: ["ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem","UpdateNodeSuccess"],
  UpdateQuotaResult: ["ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem","UpdateQuotaSuccess"],
  UpdateTeamResult: ["ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem","UpdateTeamSuccess"],
  UpdateUserResult: ["ForbiddenProblem","InvalidInputProblem","NotFoundProblem","UnavailableProblem","UpdateUserSuccess"],
};

/** Objects without an id of their own: a cache keeps them in the object that has them. */
export const embeddedTypes: readonly string[] = ["AccountShare","AddNodeSuccess","ApiTokenConnection","ApiTokenEdge","ApprovalCondition","ApprovalConnection","ApprovalEdge","ApprovalNotAllowedProblem","ApprovalRuleConnection","ApprovalRuleEdge","ApproveJobSuccess","ApproveJobsPayload","ArtifactConnection","ArtifactEdge","AuditConnection","AuditEdge","AuditVerification","CancelJobSuccess","CancelJobsPayload","Capacity","CapacityReservationConnection","CapacityReservationEdge","CleanupJobsSuccess","CreateApprovalRuleSuccess","CreateCapacityReservationSuccess","CreateQuotaSuccess","CreateTeamSuccess","CreateTokenSuccess","CreateUserSuccess","DeleteJobSuccess","DeleteSuccess","Dependency","DependencySpec","Device","DryRun","EnvironmentVariable","EstimatedStart","ExecutorInfo","Fit","ForbiddenProblem","Gate","GpuAllocation","GpuCapability","GpuInventory","IdempotencyConflictProblem","IdempotencyKey","InternalDns","InternalDnsPort","InvalidInputProblem","InvalidStateProblem","JobConnection","JobEdge","JobEventConnection","JobEventEdge","JobFairShare","JobSpec","JobTransitions","Label","Leader","LocalQueue","LogBatch","LogGap","LogLine","LogPage","LostWork","NotFoundProblem","PageInfo","PendingReason","Placement","PoolNodeConnection","PoolNodeEdge","PoolRates","ProcessQueuePayload","Progress","QuotaConnection","QuotaEdge","QuotaExceededProblem","QuotaUsage","RejectJobSuccess","RejectJobsPayload","RejectedProblem","ReleaseSlotSuccess","ReservationExpiredProblem","ReserveSlotSuccess","ResourceUsage","Resources","Retry","RevokeTokenSuccess","RunChanged","RunConnection","RunEdge","Scheduling","ScopeLimit","SelfCheck","SelfCheckFinding","SetJobPrioritySuccess","SlotReservationConnection","SlotReservationEdge","StateCount","StreamHeartbeat","StreamReset","SubmitJobSuccess","SubmitJobsPayload","TeamConnection","TeamEdge","UnavailableProblem","UpdateApprovalRuleSuccess","UpdateLimitsSuccess","UpdateNodeSuccess","UpdateQuotaSuccess","UpdateTeamSuccess","UpdateUserSuccess","UserConnection","UserCount","UserEdge","UserIdentity","VersionConflictProblem","ViewerQueue","Violation","X11"];

/** Fields of the other objects that are lists of objects. */
export const listFields: Record<string, readonly string[]> = {
  Job: ["dependencies","labels"],
  Limits: ["scopes"],
  Pool: ["accounts","holds"],
  PoolNode: ["devices"],
  Query: ["nodes","pools","submissionQueues"],
  Queue: ["byState","byUser"],
  Run: ["placements"],
  System: ["executors","gpus"],
  User: ["teams"],
  Viewer: ["quotas"],
};
