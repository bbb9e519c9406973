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

  /** All that scripts of a page and the browser wrote to the console while it got the document. */
  def console(name: String): Seq[String] =
    Files
      .readAllLines(directory.resolve(s"$name.errors"))
      .asScala
      .filter(_.contains(":CONSOLE"))
      .toSeq

  /** Takes a picture of a page, and its document. The browser reaches no other host. */
  def save(name: String, url: String): Unit = if (available) {
    Files.createDirectories(directory)
    val picture = directory.resolve(s"$name.png")
    Files.deleteIfExists(picture)
    browse(url, s"--screenshot=$picture", s"$name.log", s"$name.picture-errors")
    saveDocument(name, url)
  }

  /** Takes the document of a page, and what the console of the browser gets. */
  def saveDocument(name: String, url: String): Unit = {
    Files.createDirectories(directory)
    browse(url, "--dump-dom", s"$name.html", s"$name.errors")
  }

  private def browse(url: String, action: String, output: String, errors: String): Unit = {
    val profile = Files.createTempDirectory("chromium")
    val command = Seq(Browser.toString, "--headless") ++ Options ++
      Seq(
        s"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${Option(URI.create(url).getHost).getOrElse("127.0.0.1")}",
        s"--user-data-dir=$profile",
        action,
        url
      )
    val process = new ProcessBuilder(command.asJava)
      .redirectError(directory.resolve(errors).toFile)
      .redirectOutput(directory.resolve(output).toFile)
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
    "--enable-logging=stderr",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--window-size=1240,1500",
    "--virtual-time-budget=5000"
  )
}
