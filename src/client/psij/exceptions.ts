/** The specification of the job is wrong: submitting it again fails again. */
export class InvalidJobException extends Error {
  override name = 'InvalidJobException'
  readonly isTransient = () => false
}

/** The job is in a state in which the call has no meaning. */
export class InvalidStateException extends Error {
  override name = 'InvalidStateException'
  readonly isTransient = () => false
}

/** The request did not succeed for a reason that lies outside the job. */
export class SubmitException extends Error {
  override name = 'SubmitException'
  readonly isTransient: () => boolean

  constructor(message: string, { isTransient, ...options }: ErrorOptions & { isTransient: boolean }) {
    super(message, options)
    this.isTransient = () => isTransient
  }
}
