/** Texts of the page with the system checks. */
export const system = {
  system: {
    again: '重新检查',
    check: {
      ARTIFACTS: '产物存储',
      CLOCK: '时钟',
      CONFIGURATION: '配置',
      DATABASE: '数据库',
      DISK: '磁盘空间',
      ENCRYPTION_KEY: '加密密钥',
      FILES: '文件权限',
      ISOLATION: 'Playbook 隔离',
      MAIL: '邮件',
      MIGRATIONS: '迁移',
      PUBLIC_URL: '公开地址',
      QUEUE: '队列',
      SIGN_IN: '登录',
      WORKERS: '工作进程',
    },
    lead: 'API、数据库和工作进程的检查结果，以及每个问题的处理步骤。',
    loadFailed: '检查执行失败',
    nextStep: '处理步骤：{step}',
    severity: {
      ERROR: '错误',
      OK: '正常',
      WARNING: '警告',
    },
    title: '系统',
  },
} as const
