/** What the server publishes about itself: its OpenAPI document and its documentation pages. */
export { openApi } from './openapi.ts'
export { addPages } from './pages.ts'
