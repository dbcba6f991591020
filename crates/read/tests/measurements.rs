//! Files of measurements by their contents: how they are interpreted, and the table that they become.

use scavsim_read::input::{Diagnostics, Source};
use scavsim_read::measurements::{RunFacts, recognise};

const FACTS: RunFacts<'_> = RunFacts {
    vm: Some("p5.48xlarge"),
    workers: Some(16),
    batch: None,
    sequence: None,
    samples_per_epoch: Some(1_000),
    gpus_of: Some(&|vm| (vm == "p5.48xlarge").then_some(8)),
};

const NOTHING: RunFacts<'_> = RunFacts {
    vm: None,
    workers: None,
    batch: None,
    sequence: None,
    samples_per_epoch: None,
    gpus_of: None,
};

/// The table without its comments, and the sentence about the file.
fn read(name: &str, text: &str, facts: &RunFacts<'_>) -> Result<(String, Option<String>), String> {
    let mut wrong = Diagnostics::default();
    let found = recognise(&Source::new(name, text), facts, &mut wrong);
    let mistakes: Vec<String> = wrong
        .iter()
        .map(|own| format!("{}; {}", own.title, own.help.clone().unwrap_or_default()))
        .collect();
    let found = found.ok_or_else(|| mistakes.join("\n"))?;
    let lines = found
        .table
        .text
        .lines()
        .filter(|line| !line.starts_with('#'));
    Ok((lines.collect::<Vec<_>>().join("\n"), found.sentence))
}

/// The rows of a table without its header, as numbers after the VM.
fn rows(text: &str) -> Vec<(String, Vec<f64>)> {
    let row = |line: &str| {
        let mut cells = line.split(',');
        let vm = cells.next().unwrap_or_default().to_owned();
        let numbers = cells.map(|cell| cell.parse().unwrap_or(f64::NAN));
        (vm, numbers.collect())
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn own_tables_are_read_in_usual_words() {
    // Each is 8 workers with a batch of 64 and a step of 0.25 s.
    let tables = [
        "vm,workers,batch,samples_per_second\na,8,64,256",
        "vm,workers,batch,images/sec\na,8,64,256",
        "VM,Workers,Batch,Step time (ms)\na,8,64,250",
        "instance_type,gpus,batch_size,step_ms\na,8,64,250",
        "vm,num_gpus,global_batch_size,ms_per_step\na,8,64,250",
        "vm,workers,global_batch,it/s\na,8,64,4",
        "vm,workers,batch,s/it\na,8,64,0.25",
        "vm,world_size,micro_batch_size,gradient_accumulation_steps,step_time\na,8,4,2,0.25",
        "vm,workers,batch,grad_accum,step_s\na,8,32,2,0.25",
        "vm,workers,per_device_train_batch_size,samples_per_second_per_gpu\na,8,8,32",
        "vm,workers,batch,seq_len,tokens_per_sec\na,8,64,100,25600",
        "vm,workers,batch,sequence,tokens/s/gpu\na,8,64,100,3200",
        "vm;workers;batch;step_ms\na;8;64;250,0",
        "vm,workers,batch,step_seconds,loss,MFU\na,8,64,0.25,3.1,0.4",
        "vm,workers,batch,Throughput (img/s)\na,8,64,256",
        "vm,workers,batch/GPU,mean step time\na,8,8,250 ms",
        "vm,workers,batch,Time/step [s]\na,8,64,0.25s",
        "vm,workers,batch,step_s\na,8,64,250 ms",
        "# by hand\n\nvm,workers,batch,iteration_time_s\n# warm\na,8,64,0.25",
    ];
    for table in tables {
        let (text, sentence) = read("own.csv", table, &NOTHING).expect(table);
        let found = rows(&text);
        assert_eq!(found.len(), 1, "{table}");
        let expected = [8.0, 64.0, 0.25];
        let off = found[0]
            .1
            .iter()
            .zip(expected)
            .map(|(own, right)| (own - right).abs());
        assert!(
            found[0].0 == "a" && off.fold(0.0, f64::max) < 1e-12,
            "{table}: {text}"
        );
        assert!(text.starts_with("vm,workers,batch,step_s\n"), "{text}");
        let is_renamed_only = table.contains("s/it") || table.contains("step_s\na,8,64,250 ms");
        assert!(sentence.is_some() || is_renamed_only, "{table}");
    }
}

#[test]
fn vms_come_from_nodes_or_from_what_a_type_has() {
    let of = |table: &str| {
        rows(&read("own.csv", table, &FACTS).expect(table).0)[0]
            .0
            .clone()
    };
    assert_eq!(
        of("vm,nodes,gpus_per_node,batch,step_s\na,2,4,64,0.25"),
        "a/4"
    );
    assert_eq!(of("vm,nodes,workers,batch,step_s\na,2,8,64,0.25"), "a/4");
    assert_eq!(
        of("vm,gpus,batch,step_s\np5.48xlarge,16,64,0.25"),
        "p5.48xlarge/8"
    );
    assert_eq!(
        of("vm,gpus,batch,step_s\np5.48xlarge,4,64,0.25"),
        "p5.48xlarge/4"
    );
    assert_eq!(
        of("vm,gpus,batch,step_s\np5.48xlarge/2,4,64,0.25"),
        "p5.48xlarge/2"
    );
}

#[test]
fn vms_without_workers_use_all_gpus_of_their_type() {
    let table = "machines,batch,step_s\n1,64,0.4\n2,64,0.25";
    let facts = RunFacts {
        workers: None,
        ..FACTS
    };
    let (text, _) = read("own.csv", table, &facts).expect("a table");
    let expected = [
        ("p5.48xlarge/8".to_owned(), vec![8.0, 64.0, 0.4]),
        ("p5.48xlarge/8".to_owned(), vec![16.0, 64.0, 0.25]),
    ];
    assert_eq!(rows(&text), expected);
    let why = read(
        "own.csv",
        &format!("vm,{}", table.replace('\n', "\nrig,")),
        &facts,
    );
    assert!(
        why.as_ref()
            .is_err_and(|why| why.contains("`gpus_per_node`")),
        "{why:?}"
    );
    // One number of workers for all rows contradicts the column.
    let why = read("own.csv", table, &FACTS).expect_err("two answers");
    assert!(why.contains("leave --workers out"), "{why}");
    let why = read("own.csv", "gpus,step_ms\n8,250", &NOTHING).expect_err("too little");
    assert!(
        why.contains("no column says `vm` or `batch`; ") && why.contains("--vm and --batch-size"),
        "{why}"
    );
}

#[test]
fn tables_that_need_no_change_stay_as_they_are() {
    for table in [
        "vm,workers,batch,step_s\na,8,64,0.25",
        "vm,workers,batch,step_s,epochs,noise\na,8,64,0.25,3,0.4",
        "vm,workers,batch,stepp_s\na,8,64,0.25",
        "vm,workers,batch,step_s,step_ms\na,8,64,0.25,250",
        "",
    ] {
        let mut wrong = Diagnostics::default();
        let source = Source::new("own.csv", table);
        let found = recognise(&source, &NOTHING, &mut wrong).expect("no mistake");
        let is_same = found.table.text == source.text;
        assert!(
            is_same || table.contains("step_ms"),
            "{table}: {}",
            found.table.text
        );
    }
}

const MEGATRON: &str = "starting\n\
    iteration  71/ 100 | elapsed time per iteration (ms): 5361.6 | global batch size:   128 | lm loss: 1.8E+00 |\n\
    iteration  72/ 100 | elapsed time per iteration (ms): 5470.7 | global batch size:   128 | lm loss: 1.8E+00 |\n";
const DEEPSPEED: &str = "train_batch_size ............. 64\n\
    [INFO] [timer.py:199:stop] epoch=0/micro_step=20/global_step=20, RunningAvgSamplesPerSec=250.1, CurrSamplesPerSec=256.0\n";
const TRAINER: &str = r#"{"global_step":100,"log_history":[{"loss":5.1,"step":10},
    {"step":100,"train_runtime":25.0,"train_samples_per_second":256.0,"train_steps_per_second":4.0}]}"#;
const PROFILER: &str = r#"{"distributedInfo":{"world_size":8},"traceEvents":[{"name":"ProfilerStep#3","pid":1,"dur":250000},
    {"name":"aten::add","pid":1,"dur":3},{"name":"ProfilerStep#4","pid":1,"dur":260000},
    {"name":"ProfilerStep#3","cat":"gpu_user_annotation","pid":0,"dur":1}]}"#;
const TENSORBOARD: &str = "Wall time,Step,Value\n1000.0,10,3.1\n1002.5,20,3.0\n1005.0,30,2.9\n";
const WANDB: &str = "_step,_runtime,train/loss\n10,100,3.1\n20,102.5,3.0\n";
const LIGHTNING: &str = "epoch,step,device/batches_per_sec,train_loss\n0,49,,2.1\n0,99,4.0,2.0\n";
const ULTRALYTICS: &str = "epoch,  time,metrics/mAP50(B)\n 1,9.5,0.4\n 2,13.5,0.5\n3,17.5,0.6\n";
const SUMMARY: &str = "{'loss': 1.9, 'epoch': 0.5}\n{'train_runtime': 160.0, 'train_samples_per_second': 256.0, \
    'train_steps_per_second': 4.0, 'train_loss': 1.8, 'epoch': 1.0}\n";
const RESULTS: &str = "{\"epoch\": 1.0, \"train_runtime\": 160.0, \"train_samples_per_second\": 256.0, \"train_steps_per_second\": 4.0}";
const BARS: &str = "loading\n  3%|= | 20/600 [00:31<02:25,  4.00it/s]\r  4%|= | 24/600 [00:32<02:24,  4.00it/s, loss=1.83]\n\
    1|25|Loss: 1.8: 4%|= | 25/600 [00:33<02:24, 0.25s/it]\n";

/// Name and text of a file, and its interpretation. Steps of 0.25 s with a batch of 64 on 16 workers, except for two.
const FILES: [(&str, &str, &str); 11] = [
    ("a.log", SUMMARY, "the summary of a Hugging Face Trainer"),
    ("r.json", RESULTS, "the summary of a Hugging Face Trainer"),
    ("a.log", BARS, "a log with progress bars"),
    ("a.log", MEGATRON, "a log of Megatron-LM"),
    ("a.log", DEEPSPEED, "a log of DeepSpeed"),
    ("a.json", TRAINER, "the state of a Hugging Face Trainer"),
    ("a.json", PROFILER, "a trace of PyTorch's profiler"),
    ("a.csv", TENSORBOARD, "a scalar of TensorBoard"),
    ("a.csv", WANDB, "the history of a W&B run"),
    ("a.csv", LIGHTNING, "metrics of Lightning"),
    ("results.csv", ULTRALYTICS, "results of Ultralytics"),
];

#[test]
fn logs_and_exports_become_steps() {
    let facts = RunFacts {
        batch: Some(64),
        ..FACTS
    };
    for (name, text, kind) in FILES {
        let expected: &[f64] = match text {
            MEGATRON => &[16.0, 128.0, 5.3616],
            PROFILER => &[8.0, 64.0, 0.25],
            _ => &[16.0, 64.0, 0.25],
        };
        let (table, sentence) = read(name, text, &facts).expect(kind);
        let found = rows(&table);
        assert_eq!(
            (found[0].0.as_str(), &found[0].1[..]),
            ("p5.48xlarge/8", expected),
            "{kind}"
        );
        assert!(sentence.is_some_and(|own| own.contains(kind)), "{kind}");
        // All missing facts are reported at once.
        let why = read(name, text, &NOTHING).expect_err(kind);
        assert!(why.contains(kind) && why.contains("--vm"), "{kind}: {why}");
    }
    // A step is in the line of its log entry.
    let mut wrong = Diagnostics::default();
    let found = recognise(&Source::new("a.log", MEGATRON), &FACTS, &mut wrong).expect("a log");
    assert!(
        found
            .table
            .text
            .lines()
            .nth(2)
            .is_some_and(|line| line.ends_with("5.4707"))
    );
}

#[test]
fn other_files_are_refused_by_their_kind_with_a_way_out() {
    let cases = [
        ("{\"SpotPriceHistory\": []}", "spot prices"),
        ("{\"hidden_size\": 4096}", "scavsim import model"),
        (
            "{\"log_history\": [{\"loss\": 1}], \"global_step\": 3}",
            "train_runtime",
        ),
        ("{\"log_history\": [", "breaks"),
        ("{\"a\": 1}", "no known kind"),
        (
            "# size count type algbw busbw\n 8 2 float 20.36 38.17\n",
            "nccl-tests",
        ),
        (
            "number,value,duration,params_batch,state\n0,1,2,3,COMPLETE\n",
            "Optuna",
        ),
        ("Step,run - train/loss\n1,2\n", "panel of W&B"),
        ("epoch,step,train_loss\n0,1,2\n", "ThroughputMonitor"),
        ("epoch,metrics/mAP50(B)\n1,0.2\n2,0.3\n", "Ultralytics"),
        (
            "iteration 1 | elapsed time per iteration (ms): x |",
            "without a step",
        ),
        (
            "vm,workers,batch,tokens_per_second\na,8,64,2560",
            "column `sequence`",
        ),
        (
            "elapsed time per iteration (ms): 5.0 | global batch size: 8 |\nelapsed time per iteration (ms): 5.0 | global batch size: 16 |",
            "grows from 8 to 16",
        ),
    ];
    for (text, expected) in cases {
        let facts = RunFacts {
            samples_per_epoch: None,
            ..FACTS
        };
        let why = read("own", text, &facts).expect_err(text);
        assert!(why.contains(expected), "{text}: {why}");
    }
}

#[test]
fn warm_ups_and_checkpoints_are_no_usual_steps() {
    let line =
        |ms: f64| format!("elapsed time per iteration (ms): {ms} | global batch size: 128 |\n");
    let log: String = [31_000.5, 402.3, 398.7, 401.1, 2900.0, 399.9, 600.0]
        .map(line)
        .concat();
    let (table, sentence) = read("a.log", &log, &FACTS).expect("a log");
    // 600 ms is just within one and a half times the median, 401.1 ms.
    let steps: Vec<f64> = rows(&table).iter().map(|(_, row)| row[2]).collect();
    assert_eq!(steps, [0.4023, 0.3987, 0.4011, 0.3999, 0.6]);
    let said = sentence.expect("it is a log");
    assert!(
        said.contains("5 step times") && said.contains("2 step times more than 1.5 times off"),
        "{said}"
    );
    // With two steps, neither is usual.
    let two = line(31_000.0) + &line(400.0) + &line(0.0);
    assert_eq!(
        rows(&read("a.log", &two, &FACTS).expect("a log").0).len(),
        2
    );
}

#[test]
fn the_batch_of_a_trainer_is_told_or_asked_for() {
    let state = |steps: u32, epochs: f64, samples_per_s: f64| {
        format!(
            "{{\"global_step\": {steps}, \"epoch\": {epochs}, \"log_history\": [{{\"train_runtime\": 812.4, \
             \"train_samples_per_second\": {samples_per_s}, \"train_steps_per_second\": 0.002}}]}}"
        )
    };
    // 9,018 samples in 141 steps: the last has fewer than 64.
    let (table, _) = read("s.json", &state(141, 1.0, 11.1), &FACTS).expect("a state");
    assert_eq!(rows(&table)[0].1[1], 64.0);
    // Three steps a pass: the last may have any number of samples.
    let why = read("s.json", &state(3, 1.0, 0.159), &FACTS).expect_err("nothing tells its batch");
    assert!(why.contains("--batch-size"), "{why}");
}

#[test]
fn a_broken_table_is_left_to_whoever_reads_tables() {
    let broken = "vm,gpus,batch,step_ms\na,8,\"64,250\n";
    let mut wrong = Diagnostics::default();
    let source = Source::new("own.csv", broken);
    let found = recognise(&source, &NOTHING, &mut wrong).expect("no mistake yet");
    assert_eq!(found.table.text, source.text);
}
