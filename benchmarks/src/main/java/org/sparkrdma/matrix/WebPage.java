// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** Pages of Spark's web servers on this machine. Stateless. */
final class WebPage {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final long POLL_MS = 200;
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();

  private WebPage() {}

  /** Its text; that of the error page when there is no such page. */
  static String get(String url) throws IOException, InterruptedException {
    return CLIENT
        .send(
            HttpRequest.newBuilder(URI.create(url)).timeout(LIMIT).build(), BodyHandlers.ofString())
        .body();
  }

  /** Its text as soon as it is ready, and after 30 s as it is then. */
  static String await(String url, Predicate<String> isReady)
      throws IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + LIMIT.toNanos();
    String text = get(url);
    while (!isReady.test(text) && System.nanoTime() < deadlineNs) {
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
      text = get(url);
    }
    return text;
  }
}
