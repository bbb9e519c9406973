// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.net.URI
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import scala.jdk.CollectionConverters._

/** Pictures and documents of pages by a headless Chromium, where the machine has one, in
  * `target/screenshots`.
  */
private[scenarios] object Screenshots {
  private val Browser = Path.of("/usr/bin/chromium")
  private val LimitSeconds = 60L
  private val directory = Path.of(sys.props("it.vanilla")).resolveSibling("screenshots")

  /** Whether pictures can be taken. */
  def available: Boolean = Files.isExecutable(Browser)

  /** Sizes of all pictures in bytes, by name. */
  def saved: Map[String, Long] = {
    val files = Files.list(directory)
    try
      files
        .iterator()
        .asScala
        .filter(_.toString.endsWith(".png"))
        .map(file => file.getFileName.toString.stripSuffix(".png") -> Files.size(file))
        .toMap
    finally files.close()
  }

  /** The document of a page, as the browser had it after all scripts. */
  def document(name: String): String = Files.readString(directory.resolve(s"$name.html"))

  /** Takes a picture of a page, and its document. The browser reaches no other host. */
  def save(name: String, url: String): Unit = if (available) {
    Files.createDirectories(directory)
    val picture = directory.resolve(s"$name.png")
    Files.deleteIfExists(picture)
    browse(url, s"--screenshot=$picture", directory.resolve(s"$name.log"))
    browse(url, "--dump-dom", directory.resolve(s"$name.html"))
  }

  private def browse(url: String, action: String, output: Path): Unit = {
    val profile = Files.createTempDirectory("chromium")
    val command = Seq(Browser.toString, "--headless") ++ Options ++
      Seq(
        s"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${URI.create(url).getHost}",
        s"--user-data-dir=$profile",
        action,
        url
      )
    val process = new ProcessBuilder(command.asJava)
      .redirectError(profile.resolve("errors.log").toFile)
      .redirectOutput(output.toFile)
      .start()
    try
      if (!process.waitFor(LimitSeconds, TimeUnit.SECONDS)) {
        throw new AssertionError(s"Chromium is not done after $LimitSeconds s")
      }
    finally process.destroyForcibly(): Unit
  }

  // Without its services Chromium needs no network; the window shows the page without scrolling.
  private val Options = Seq(
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--window-size=1240,860",
    "--virtual-time-budget=5000"
  )
}
