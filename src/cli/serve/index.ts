/** `serve`: loaded only by that command, because the server takes a while to load. */
export { serve } from './serve.ts'
