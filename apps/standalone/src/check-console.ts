import http from 'node:http'
import https from 'node:https'

// Health check of the console's container: exit code 0 when it serves the sign-in page on this machine. The certificate is not verified,
// because it belongs to the public name.
const { PORT = '3000', TLS_CERT_FILE } = process.env
const options = { host: '127.0.0.1', port: Number(PORT), path: '/sign-in', rejectUnauthorized: false, timeout: 10_000 }
const request = (TLS_CERT_FILE ? https : http).get(options, (response) => process.exit(response.statusCode === 200 ? 0 : 1))
request.once('error', () => process.exit(1))
request.once('timeout', () => process.exit(1))
