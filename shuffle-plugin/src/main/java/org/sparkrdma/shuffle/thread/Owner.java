/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.thread;

/**
 * The one thread that may touch what has this owner: {@code assert owner.holds();} at the entries
 * of a class costs nothing where assertions are off, and in tests throws when a foreign thread
 * comes. Before the thread has begun and after it has ended nobody owns, and anybody may. Safe for
 * any thread.
 */
public final class Owner {
  private volatile Thread thread;

  /** The current thread owns from now on. */
  public void take() {
    thread = Thread.currentThread();
  }

  /** Nobody owns any more. */
  public void release() {
    thread = null;
  }

  /**
   * @return true
   * @throws IllegalStateException when another thread owns
   */
  public boolean holds() {
    Thread owner = thread;
    if (owner != null && owner != Thread.currentThread()) {
      throw new IllegalStateException(
          "touched by a foreign thread: owner="
              + owner.getName()
              + " thread="
              + Thread.currentThread().getName());
    }
    return true;
  }
}
