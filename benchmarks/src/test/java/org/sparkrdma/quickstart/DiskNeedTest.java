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
package org.sparkrdma.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkrdma.launch.DataSize;

class DiskNeedTest {
  private static final DataSize ONE_GIB = DataSize.parse("1g");

  @Test
  void shouldNeedRoomForOneOutputWhenOutputsAreNotKept() {
    assertThat(DiskNeed.of(ONE_GIB, 3, false)).isEqualTo(DiskNeed.of(ONE_GIB, 1, false));
    assertThat(DiskNeed.of(ONE_GIB, 3, false).bytes()).isGreaterThan(4 * ONE_GIB.bytes());
  }

  @Test
  void shouldNeedRoomForAllOutputsWhenTheyAreKept() {
    assertThat(DiskNeed.of(ONE_GIB, 3, true).bytes())
        .isGreaterThan(DiskNeed.of(ONE_GIB, 1, true).bytes() + 2 * ONE_GIB.bytes());
  }
}
