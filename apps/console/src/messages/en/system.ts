/** Texts of the page with the system checks. */
export const system = {
  system: {
    again: 'Check again',
    check: {
      ARTIFACTS: 'Artifact store',
      CLOCK: 'Clock',
      CONFIGURATION: 'Configuration',
      DATABASE: 'Database',
      DISK: 'Disk space',
      ENCRYPTION_KEY: 'Encryption key',
      FILES: 'File permissions',
      ISOLATION: 'Playbook isolation',
      MAIL: 'Mail',
      MIGRATIONS: 'Migrations',
      PUBLIC_URL: 'Public URL',
      QUEUE: 'Queue',
      SIGN_IN: 'Sign-in',
      WORKERS: 'Workers',
    },
    lead: 'Checks of the API, the database and the workers, with the next step for each problem.',
    loadFailed: 'Failed to run the checks',
    nextStep: 'Next step: {step}',
    severity: {
      ERROR: 'Error',
      OK: 'OK',
      WARNING: 'Warning',
    },
    title: 'System',
  },
} as const
