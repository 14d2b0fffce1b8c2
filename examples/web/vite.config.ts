import { defineConfig } from "vite";

export default defineConfig({
  // Paths that work wherever the page is put.
  base: "./",
  server: { port: 5173, strictPort: true },
  preview: { port: 5173, strictPort: true },
});
