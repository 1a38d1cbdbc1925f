/** Classes of advisory locks, the first of the two keys: one list, so that no two uses meet. */
export const advisoryLocks = {
  /** Second key 0: who migrates this database. */
  migration: 0x62657201,
  /** Second key 0, in the maintenance database: shared by every process that uses the embedded server. */
  embeddedUsers: 0x62657202,
  /** Second key: hash of what is led. */
  leadership: 0x62657203,
  /** Second key 0: who gives events their positions. */
  sequencer: 0x62657204,
  /** Second key 0: who chains the entries of the audit log. */
  auditChain: 0x62657205,
  /** Second key 0: who folds the tally of the queue. */
  tally: 0x62657206,
} as const
