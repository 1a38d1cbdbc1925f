import { defaultClientConditions, defineConfig } from 'vite'

/** Resolves `@berth-jobs/berth/client` to the source of this repository. A project that installs berth needs no alias. */
export default defineConfig({
  resolve: { conditions: ['berth-source', ...defaultClientConditions] },
  server: {
    fs: { allow: ['..', '../..'] },
    // Serves the page and the API from one origin, because a server in single-user mode refuses others.
    proxy: { '/graphql': { target: process.env['BERTH_URL'] ?? 'http://127.0.0.1:4000', ws: true } },
  },
  build: { emptyOutDir: true },
})
