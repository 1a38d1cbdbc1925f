/** Answers of backends, which may come from something else that stands in front of them. */

/** undefined: it is no JSON. */
export function parsedJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const shownMax = 200

/** As much of an answer as a message shows. */
export const beginningOf = (body: string) => body.trim().slice(0, shownMax)
