/** The fields of versions, so that an edit does not overwrite the change of another user. */

export const versionField = {
  type: 'UInt53',
  description:
    'Rises with each change; pass it as `expectedVersion`, so that you do not overwrite a change of another user.',
} as const

/** `object`: "the quota". */
export const expectedVersion = (object: string) =>
  ({ type: 'UInt53', description: `Fails with a version conflict unless ${object} has this version.` }) as const
