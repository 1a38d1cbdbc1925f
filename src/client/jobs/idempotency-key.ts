/** Makes 128 random bits without `crypto.randomUUID`, which pages have only over HTTPS or from localhost. */
export function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
