declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
  }
  export const interactionPolicy: {
    base(): { get(prompt: string): { checks: { remove(reason: string): void } } }
  }
}
