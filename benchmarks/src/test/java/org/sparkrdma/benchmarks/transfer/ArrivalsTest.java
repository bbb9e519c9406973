// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ArrivalsTest {
  private final CountedBuffer first = new CountedBuffer();
  private final CountedBuffer second = new CountedBuffer();
  private final Arrivals arrivals = new Arrivals();

  @Test
  void shouldLeaveATakenBlockToItsTaker() throws Exception {
    arrivals.onBlockFetchSuccess("a", first);
    assertThat(arrivals.next()).isSameAs(first);
    assertThat(arrivals.blockId()).isEqualTo("a");
    arrivals.close();
    assertThat(first.count).isEqualTo(2);
  }

  @Test
  void shouldReleaseTheOtherBlocksWhenClosed() throws Exception {
    arrivals.onBlockFetchFailure("lost", new IOException("no route"));
    arrivals.onBlockFetchSuccess("a", first);
    assertThatThrownBy(arrivals::next)
        .isInstanceOf(IOException.class)
        .hasMessage("block lost failed")
        .hasRootCauseMessage("no route");
    arrivals.close();
    assertThat(first.count).isEqualTo(1);
  }

  @Test
  void shouldReleaseBlocksThatWereTakenTogetherAndThoseThatArrivedLater() throws Exception {
    arrivals.onBlockFetchSuccess("a", first);
    arrivals.onBlockFetchSuccess("b", first);
    arrivals.next();
    arrivals.onBlockFetchSuccess("c", second);
    arrivals.close();
    assertThat(first.count).as("the client's count and that of the taker").isEqualTo(2);
    assertThat(second.count).isEqualTo(1);
  }

  @Test
  void shouldKeepNoBlockThatArrivesAfterItsClose() {
    arrivals.close();
    arrivals.onBlockFetchSuccess("b", second);
    assertThat(second.count).isEqualTo(1);
  }

  /** A buffer of which the client has one count. */
  private static final class CountedBuffer extends NioManagedBuffer {
    private int count = 1;

    CountedBuffer() {
      super(ByteBuffer.allocate(8));
    }

    @Override
    public ManagedBuffer retain() {
      count++;
      return this;
    }

    @Override
    public ManagedBuffer release() {
      count--;
      return this;
    }
  }
}
